use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

/// The texts of message items that are coming in. They count where the item itself never comes.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    drafts: Vec<Draft>,
    ids: HashMap<String, usize>,
    indexes: HashMap<Option<u64>, usize>,
}

#[derive(Debug)]
struct Draft {
    output_index: Option<u64>,
    item_id: String,
    /// By their index, and whether they are a `refusal`.
    parts: BTreeMap<(u64, bool), String>,
    /// The item came.
    ended: bool,
}

impl Drafts {
    /// Takes more text of a part.
    pub(crate) fn append(
        &mut self,
        output_index: Option<u64>,
        item_id: &str,
        part: (u64, bool),
        text: &str,
    ) {
        let place = self.find(output_index, item_id).unwrap_or_else(|| {
            self.drafts.push(Draft {
                output_index,
                item_id: item_id.to_owned(),
                parts: BTreeMap::new(),
                ended: false,
            });
            let place = self.drafts.len() - 1;
            self.ids.insert(item_id.to_owned(), place);
            self.indexes.insert(output_index, place);
            place
        });
        if let Some(draft) = self.drafts.get_mut(place) {
            draft.parts.entry(part).or_default().push_str(text);
        }
    }

    /// Returns whether text came of this item.
    pub(crate) fn has(&self, output_index: Option<u64>, item_id: &str) -> bool {
        self.find(output_index, item_id).is_some()
    }

    /// Returns whether text came of this part.
    pub(crate) fn has_part(
        &self,
        output_index: Option<u64>,
        item_id: &str,
        part: (u64, bool),
    ) -> bool {
        let place = self.find(output_index, item_id);
        let draft = place.and_then(|place| self.drafts.get(place));
        draft.is_some_and(|draft| draft.parts.contains_key(&part))
    }

    /// Notes that the message came, with this text. Some servers give it another id than its pieces.
    pub(crate) fn end(&mut self, output_index: Option<u64>, item_id: &str, text: &str) {
        let newest = self.drafts.len().checked_sub(1);
        let place = self.find(output_index, item_id).or_else(|| {
            let draft = newest.and_then(|place| self.drafts.get(place));
            newest.filter(|_| draft.is_some_and(|draft| draft.says(text)))
        });
        if let Some(draft) = place.and_then(|place| self.drafts.get_mut(place)) {
            draft.ended = true;
        }
    }

    /// Returns the open draft of this id, or in this place.
    fn find(&self, output_index: Option<u64>, item_id: &str) -> Option<usize> {
        let draft = |place: &usize| self.drafts.get(*place).filter(|draft| !draft.ended);
        let of_id = self.ids.get(item_id).filter(|_| !item_id.is_empty());
        let there = self.indexes.get(&output_index).filter(|place| {
            let is_named = draft(place).is_some_and(|draft| !draft.item_id.is_empty());
            output_index.is_some() || item_id.is_empty() || !is_named
        });
        let of_id = of_id.filter(|place| draft(place).is_some());
        of_id
            .or(there.filter(|place| draft(place).is_some()))
            .copied()
    }

    /// Returns the items as far as they came, each with its place.
    pub(crate) fn items(&self) -> impl Iterator<Item = (Option<u64>, Value)> {
        let open = self.drafts.iter().filter(|draft| !draft.ended);
        open.map(|draft| {
            let part = |((_, is_refusal), text): (&(u64, bool), &String)| match is_refusal {
                true => json!({"type": "refusal", "refusal": text}),
                false => json!({"type": "output_text", "text": text}),
            };
            let parts: Value = draft.parts.iter().map(part).collect();
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

impl Draft {
    fn says(&self, text: &str) -> bool {
        let mut rest = Some(text);
        for part in self.parts.values() {
            rest = rest.and_then(|rest| rest.strip_prefix(part.as_str()));
        }
        rest == Some("")
    }
}
