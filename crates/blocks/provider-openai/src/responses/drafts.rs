use serde_json::{Value, json};

/// The texts of message items that are coming in. They count where the item itself never comes.
#[derive(Debug, Default)]
pub(crate) struct Drafts(Vec<Draft>);

#[derive(Debug)]
struct Draft {
    output_index: Option<u64>,
    item_id: String,
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    index: u64,
    is_refusal: bool,
    text: String,
}

impl Drafts {
    /// Takes more text of a part.
    pub(crate) fn append(
        &mut self,
        output_index: Option<u64>,
        item_id: &str,
        (index, is_refusal): (u64, bool),
        text: &str,
    ) {
        let place = self.find(output_index, item_id).unwrap_or_else(|| {
            self.0.push(Draft {
                output_index,
                item_id: item_id.to_owned(),
                parts: Vec::new(),
            });
            self.0.len() - 1
        });
        let Some(draft) = self.0.get_mut(place) else {
            return;
        };
        let same = |part: &Part| part.index == index && part.is_refusal == is_refusal;
        match draft.parts.iter_mut().find(|part| same(part)) {
            Some(part) => part.text.push_str(text),
            None => draft.parts.push(Part {
                index,
                is_refusal,
                text: text.to_owned(),
            }),
        }
    }

    /// Whether text came of this item.
    pub(crate) fn has(&self, output_index: Option<u64>, item_id: &str) -> bool {
        self.find(output_index, item_id).is_some()
    }

    /// The item came.
    pub(crate) fn end(&mut self, output_index: Option<u64>, item_id: &str) {
        if let Some(place) = self.find(output_index, item_id) {
            self.0.remove(place);
        }
    }

    fn find(&self, output_index: Option<u64>, item_id: &str) -> Option<usize> {
        self.0.iter().position(|draft| {
            let is_named = !draft.item_id.is_empty() && !item_id.is_empty();
            match is_named {
                true => draft.item_id == item_id,
                false => draft.output_index == output_index,
            }
        })
    }

    /// The items as far as they came, each with its place.
    pub(crate) fn items(&self) -> impl Iterator<Item = (Option<u64>, Value)> {
        self.0.iter().map(|draft| {
            let parts: Value = draft
                .parts
                .iter()
                .map(|part| match part.is_refusal {
                    true => json!({"type": "refusal", "refusal": part.text}),
                    false => json!({"type": "output_text", "text": part.text}),
                })
                .collect();
            let mut item = json!({"type": "message", "role": "assistant", "content": parts});
            if let Some(fields) = item.as_object_mut()
                && !draft.item_id.is_empty()
            {
                fields.insert("id".to_owned(), json!(draft.item_id));
            }
            (draft.output_index, item)
        })
    }
}
