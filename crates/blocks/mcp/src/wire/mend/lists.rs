//! Lists of tools, resources and prompts: what does not fit is mended or omitted, and the rest is kept.

use rmcp::model::{MetaObject, Prompt, PromptArgument, Resource, ResourceTemplate, Tool};
use serde_json::{Value, json};

use super::fields::{Fields, fits, flag, keep_if, text};

/// Where a mended list holds what was omitted from it.
const OMITTED: &str = "neuron/omitted";
/// How many omitted elements are named one by one.
const MAX_OMITTED: usize = 1000;

/// An element of a list that cannot be used.
pub(crate) struct Omitted {
    pub(crate) name: String,
    pub(crate) reason: String,
}

/// Returns what was omitted from a list. A server that writes this itself gets no more than odd elements get it.
pub(crate) fn omitted(meta: Option<&MetaObject>) -> Vec<Omitted> {
    let listed = meta.and_then(|meta| meta.get(OMITTED)?.as_array());
    let listed = listed.into_iter().flatten().take(MAX_OMITTED + 1);
    let omitted = |it: &Value| {
        Some(Omitted {
            name: it.get("name")?.as_str()?.to_owned(),
            reason: it.get("reason")?.as_str()?.to_owned(),
        })
    };
    listed.filter_map(omitted).collect()
}

pub(super) fn tools(result: Value) -> Option<Value> {
    list(result, "tools", fits::<Tool>, |tool| {
        named(tool)?;
        match tool.get("inputSchema") {
            // Some languages write an empty object as an empty list.
            Some(Value::Array(list)) if !list.is_empty() => {
                return Err("the schema of its arguments is no object");
            }
            None | Some(Value::Null | Value::Array(_)) => {
                let schema = json!({"type": "object", "properties": {}});
                tool.insert("inputSchema".to_owned(), schema);
            }
            Some(Value::Object(_)) => {}
            Some(_) => return Err("the schema of its arguments is no object"),
        }
        keep_if(tool, &["title", "description"], Value::is_string);
        keep_if(tool, &["outputSchema", "annotations"], Value::is_object);
        // A tool that states anything odd about its effects states nothing, and is taken for a write.
        if let Some(Value::Object(hints)) = tool.get_mut("annotations") {
            keep_if(hints, &["title"], Value::is_string);
            let flags = [
                "readOnlyHint",
                "destructiveHint",
                "idempotentHint",
                "openWorldHint",
            ];
            keep_if(hints, &flags, Value::is_boolean);
        }
        bare(tool, &["icons", "_meta", "execution"]);
        Ok(())
    })
}

pub(super) fn resources(result: Value) -> Option<Value> {
    list(result, "resources", fits::<Resource>, |resource| {
        addressed(resource, "uri")?;
        keep_if(resource, &["size"], Value::is_u64);
        Ok(())
    })
}

pub(super) fn templates(result: Value) -> Option<Value> {
    list(
        result,
        "resourceTemplates",
        fits::<ResourceTemplate>,
        |template| addressed(template, "uriTemplate"),
    )
}

pub(super) fn prompts(result: Value) -> Option<Value> {
    list(result, "prompts", fits::<Prompt>, |prompt| {
        named(prompt)?;
        keep_if(prompt, &["title", "description"], Value::is_string);
        keep_if(prompt, &["arguments"], Value::is_array);
        if let Some(Value::Array(arguments)) = prompt.get_mut("arguments") {
            for argument in arguments.iter_mut() {
                let Value::Object(argument) = argument else {
                    continue;
                };
                keep_if(argument, &["title", "description"], Value::is_string);
                if let Some(required) = argument.remove("required").as_ref().and_then(flag) {
                    argument.insert("required".to_owned(), required.into());
                }
            }
            if !arguments.iter().all(fits::<PromptArgument>) {
                return Err("its arguments cannot be read");
            }
        }
        bare(prompt, &["icons", "_meta"]);
        Ok(())
    })
}

/// Checks that something has an address and a name. A name that is missing is the address.
fn addressed(fields: &mut Fields, address: &str) -> Result<(), &'static str> {
    let Some(address) = text(fields, address).map(str::to_owned) else {
        return Err("it has no address");
    };
    if text(fields, "name").is_none() {
        fields.insert("name".to_owned(), address.into());
    }
    let texts = ["title", "description", "mimeType"];
    keep_if(fields, &texts, Value::is_string);
    bare(fields, &["icons", "_meta", "annotations"]);
    Ok(())
}

fn named(fields: &Fields) -> Result<(), &'static str> {
    match fields.get("name") {
        Some(Value::String(_)) => Ok(()),
        Some(_) => Err("its name is no text"),
        None => Err("it has no name"),
    }
}

/// Removes what this side does not use.
fn bare(fields: &mut Fields, names: &[&str]) {
    fields.retain(|name, _| !names.contains(&name.as_str()));
}

fn list(
    result: Value,
    key: &str,
    fits: fn(&Value) -> bool,
    mend: impl Fn(&mut Fields) -> Result<(), &'static str>,
) -> Option<Value> {
    let Value::Object(mut fields) = result else {
        return None;
    };
    let elements = match fields.remove(key)? {
        Value::Array(elements) => elements,
        // What some languages write for an empty list.
        Value::Null => Vec::new(),
        _ => return None,
    };
    let mut kept = Vec::new();
    let mut omitted = Vec::new();
    let mut further = 0_usize;
    let mut omit = |name: &str, reason: &str| match omitted.len() < MAX_OMITTED {
        true => omitted.push(json!({"name": name, "reason": reason})),
        false => further += 1,
    };
    for element in elements {
        if fits(&element) {
            kept.push(element);
            continue;
        }
        let Value::Object(mut element) = element else {
            omit("(no name)", "it is no object");
            continue;
        };
        let mended = mend(&mut element);
        let element = Value::Object(element);
        match mended {
            Ok(()) if fits(&element) => kept.push(element),
            outcome => {
                let name = ["name", "uri", "uriTemplate"]
                    .into_iter()
                    .find_map(|name| element.get(name)?.as_str());
                let reason = outcome.err().unwrap_or("it cannot be read");
                omit(name.unwrap_or("(no name)"), reason);
            }
        }
    }
    let mut mended = Fields::new();
    match fields.remove("nextCursor") {
        None | Some(Value::Null) => {}
        Some(cursor @ Value::String(_)) => {
            mended.insert("nextCursor".to_owned(), cursor);
        }
        Some(_) => omit("(further pages)", "the cursor to them is no text"),
    }
    if further > 0 {
        omitted.push(json!({"name": format!("({further} more)"), "reason": "they cannot be read"}));
    }
    mended.insert(key.to_owned(), Value::Array(kept));
    if !omitted.is_empty() {
        mended.insert("_meta".to_owned(), json!({OMITTED: omitted}));
    }
    Some(Value::Object(mended))
}
