//! Pictures as the providers of models take them: a conversation with any other is rejected from then on.

use std::borrow::Cow;

use base64::{
    Engine as _,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose},
};
use neuron_types::{ContentItem, ImageSource};

use crate::wire::{harmless::shown, picture_type::type_of};

/// The most bytes of base64 of one picture: no provider takes more.
const MAX_IMAGE_BYTES: usize = 8 * 1024 * 1024;
/// The most bytes of a text that came as a picture.
const MAX_TEXT_BYTES: usize = 64 * 1024;
/// How much of the name of a type is shown.
const MAX_TYPE_CHARS: usize = 100;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

/// Returns a picture that a server sent, under the type that its bytes have. What no provider takes becomes a text that
/// says what it was, with its content where that is a text itself.
pub(crate) fn picture(claimed: &str, data: String) -> ContentItem {
    let size = data.len();
    if size > MAX_IMAGE_BYTES {
        return ContentItem::Text(format!(
            "[a picture of {size} bytes was left out: no more than {MAX_IMAGE_BYTES} are taken]"
        ));
    }
    let what = match claimed.trim() {
        "" => "a picture of no type".to_owned(),
        claimed => format!("a picture of the type {}", shown(claimed, MAX_TYPE_CHARS)),
    };
    let Some(bytes) = decoded(&data) else {
        return match is_text_type(claimed) {
            true => told(&what, size, &data),
            false => ContentItem::Text(format!(
                "[{what} was left out: its data of {size} bytes is no base64]"
            )),
        };
    };
    if let Some(media_type) = type_of(&bytes) {
        let canonical = general_purpose::STANDARD.encode(&bytes);
        return ContentItem::Image {
            source: ImageSource::Base64 {
                media_type: media_type.to_owned(),
                data: match canonical == data {
                    true => data,
                    false => canonical,
                },
            },
        };
    }
    let size = bytes.len();
    match text_in(&bytes, claimed) {
        Some(text) => told(&what, size, &text),
        None => ContentItem::Text(format!(
            "[{what} and of {size} bytes was left out: it is no PNG, JPEG, GIF or WebP that says its width and height]"
        )),
    }
}

/// Decodes the bytes, also where the text has line breaks, no padding, the letters of addresses, or a `data:` before
/// it.
fn decoded(data: &str) -> Option<Vec<u8>> {
    let data = match data.trim_start().strip_prefix("data:") {
        Some(address) => address.split_once(";base64,")?.1,
        None => data,
    };
    let data: Cow<'_, str> = match data.contains(|c: char| c.is_ascii_whitespace()) {
        true => data.split_ascii_whitespace().collect(),
        false => data.into(),
    };
    let alphabet = match data.contains(['-', '_']) {
        true => &URL_SAFE,
        false => &STANDARD,
    };
    let bytes = GeneralPurpose::new(alphabet, LENIENT).decode(&*data).ok()?;
    (!bytes.is_empty()).then_some(bytes)
}

/// Returns the text that the bytes are, by their type or by themselves.
fn text_in<'a>(bytes: &'a [u8], claimed: &str) -> Option<Cow<'a, str>> {
    if is_text_type(claimed) {
        return Some(String::from_utf8_lossy(bytes));
    }
    let text = str::from_utf8(bytes).ok()?;
    let is_text = !text.contains(|c: char| c.is_control() && !c.is_ascii_whitespace());
    is_text.then_some(text.into())
}

fn is_text_type(claimed: &str) -> bool {
    let essence = claimed.split(';').next().unwrap_or_default().trim();
    let essence = essence.to_ascii_lowercase();
    essence.starts_with("text/")
        || essence.ends_with("+xml")
        || essence.ends_with("+json")
        || matches!(
            essence.as_str(),
            "application/json" | "application/xml" | "image/svg"
        )
}

/// Returns what came as a picture and is a text.
fn told(what: &str, size: usize, text: &str) -> ContentItem {
    let end = text.floor_char_boundary(MAX_TEXT_BYTES);
    let (kept, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let cut = match rest {
        "" => String::new(),
        rest => format!("\n[{} bytes more were left out]", rest.len()),
    };
    ContentItem::Text(format!(
        "[{what} and of {size} bytes, as its text]\n{kept}{cut}"
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\0\xff\xef\xbf";

    fn base64(bytes: &[u8]) -> String {
        general_purpose::STANDARD.encode(bytes)
    }

    fn image(media_type: &str, data: String) -> ContentItem {
        let media_type = media_type.to_owned();
        let source = ImageSource::Base64 { media_type, data };
        ContentItem::Image { source }
    }

    fn text(claimed: &str, data: String) -> String {
        match picture(claimed, data) {
            ContentItem::Text(text) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_picture_has_the_type_that_its_bytes_have() {
        let all: [(&str, &[u8]); 4] = [
            ("image/png", PNG),
            ("image/jpeg", b"\xff\xd8\xff\xc0\0\x0b\x08\0\x01\0\x01"),
            ("image/gif", b"GIF89a\x01\0\x01\0\0\0\0"),
            ("image/webp", b"RIFF\x01\0\0\0WEBPVP8L\0\0\0\0\x2f\0\0\0\0"),
        ];
        for (media_type, bytes) in all {
            for claimed in [media_type, "image/png", "image/jpg", "text/html", ""] {
                let came = picture(claimed, base64(bytes));
                assert_eq!(came, image(media_type, base64(bytes)), "{claimed}");
            }
        }
    }

    #[test]
    fn base64_of_any_make_goes_on_as_the_standard_one() {
        let plain = base64(PNG);
        let lines = format!("{}\r\n{}\n", &plain[..4], &plain[4..]);
        let address = format!("data:image/png;base64,{plain}");
        let bare = plain.trim_end_matches('=').to_owned();
        let safe = plain.replace('+', "-").replace('/', "_");
        assert_ne!(bare, plain);
        assert_ne!(safe, plain);
        for data in [lines, address, bare, safe] {
            assert_eq!(
                picture("image/png", data),
                image("image/png", plain.clone())
            );
        }
    }

    #[test]
    fn what_is_a_text_is_read_as_one() {
        let svg = "<svg xmlns='http://www.w3.org/2000/svg'/>";
        let expected = "[a picture of the type image/svg+xml and of 41 bytes, as its text]\n";
        let expected = format!("{expected}{svg}");
        assert_eq!(text("image/svg+xml", base64(svg.as_bytes())), expected);
        // As it is, where it is no base64.
        assert_eq!(text("image/svg+xml", svg.to_owned()), expected);
        let html = text("text/html; charset=utf-8", base64(b"<p>no"));
        assert!(html.ends_with("as its text]\n<p>no"), "{html}");
        // Not what it says that it is.
        let refusal = text("image/png", base64(b"too many requests"));
        assert!(refusal.ends_with("\ntoo many requests"), "{refusal}");
    }

    #[test]
    fn what_no_provider_takes_is_a_text_that_says_what_it_was() {
        let tiff = text("image/tiff", base64(b"II*\0\x08\0"));
        assert_eq!(
            tiff,
            "[a picture of the type image/tiff and of 6 bytes was left out: it is no PNG, JPEG, GIF or WebP that says its width and height]"
        );
        for data in [
            "",
            "no base64!",
            "https://example.com/a.png",
            "data:image/png,x",
        ] {
            let said = text("image/png", data.to_owned());
            assert!(said.contains("is no base64"), "{said}");
            assert!(said.contains("image/png"), "{said}");
        }
    }

    #[test]
    fn a_long_text_and_a_large_picture_are_cut_with_a_word_on_it() {
        let long = "é".repeat(MAX_TEXT_BYTES);
        let said = text("text/plain", base64(long.as_bytes()));
        assert!(said.len() < MAX_TEXT_BYTES + 200);
        assert!(
            said.ends_with("[65536 bytes more were left out]"),
            "{}",
            &said[said.len() - 50..]
        );
        let said = text("image/png", "A".repeat(MAX_IMAGE_BYTES + 1));
        assert!(said.contains("no more than 8388608"), "{said}");
        let said = text(
            &format!("image/\u{1b}{}", "x".repeat(1000)),
            "A===".to_owned(),
        );
        assert!(said.len() < 300 && !said.contains('\u{1b}'), "{said}");
    }

    proptest! {
        #[test]
        fn what_goes_on_as_a_picture_can_be_taken(bytes in prop::collection::vec(any::<u8>(), 0..64), png in any::<bool>(), claimed in "\\PC{0,20}") {
            let all = if png { [PNG, &bytes].concat() } else { bytes };
            if let ContentItem::Image { source: ImageSource::Base64 { media_type, data } } = picture(&claimed, base64(&all)) {
                let decoded = general_purpose::STANDARD.decode(data).unwrap();
                prop_assert_eq!(type_of(&decoded), Some(media_type.as_str()));
            } else {
                prop_assert!(!png);
            }
        }
    }
}
