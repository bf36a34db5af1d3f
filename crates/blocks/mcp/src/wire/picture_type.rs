//! The types of pictures by their bytes.

/// Returns the type of a picture that providers take, if its bytes state its width and height: providers take no
/// picture without them.
pub(super) fn type_of(bytes: &[u8]) -> Option<&'static str> {
    let (media_type, size) = if let Some(rest) = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n") {
        ("image/png", png(rest)?)
    } else if let Some(rest) = bytes.strip_prefix(b"\xff\xd8") {
        ("image/jpeg", jpeg(rest)?)
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        ("image/gif", gif(bytes)?)
    } else if bytes.starts_with(b"RIFF") {
        ("image/webp", webp(bytes)?)
    } else {
        return None;
    };
    let has_size = size.0 > 0 && size.1 > 0;
    has_size.then_some(media_type)
}

/// A width and a height.
type Size = (u32, u32);

/// Reads the width and height of the first chunk, after its length.
fn png(chunk: &[u8]) -> Option<Size> {
    let header = chunk.get(4..)?.strip_prefix(b"IHDR")?;
    Some((u32_at(header, 0)?, u32_at(header, 4)?))
}

/// Reads the width and height of the segment that begins a frame. Others stand before it.
fn jpeg(mut segments: &[u8]) -> Option<Size> {
    loop {
        // What stands between two segments is passed over, as decoders do.
        let at = segments.iter().position(|byte| *byte == 0xff)?;
        segments = segments.get(at + 1..)?;
        let (marker, rest) = segments.split_first()?;
        match marker {
            // A byte that fills up; segments without a length.
            0xff => continue,
            0x00 | 0x01 | 0xd0..=0xd8 => {
                segments = rest;
                continue;
            }
            // The end, or the picture before its frame.
            0xd9 | 0xda => return None,
            _ => {}
        }
        let is_frame = matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
        if is_frame {
            return Some((u16_at(rest, 5)?, u16_at(rest, 3)?));
        }
        let length = usize::try_from(u16_at(rest, 0)?).ok()?;
        segments = rest.get(length.max(2)..)?;
    }
}

/// Reads the width and height of the screen.
fn gif(bytes: &[u8]) -> Option<Size> {
    let screen = bytes.get(6..13)?;
    Some((little(screen.get(0..2)?), little(screen.get(2..4)?)))
}

/// Reads the width and height of the first chunk, which each kind has in a way of its own.
fn webp(bytes: &[u8]) -> Option<Size> {
    let chunk = bytes.get(8..)?.strip_prefix(b"WEBP")?;
    let data = chunk.get(8..)?;
    match chunk.get(..4)? {
        b"VP8 " => {
            let size = data.get(3..)?.strip_prefix(b"\x9d\x01\x2a")?;
            let side = |at| Some(little(size.get(at..at + 2)?) & 0x3fff);
            Some((side(0)?, side(2)?))
        }
        b"VP8L" => {
            let bits = little(data.strip_prefix(b"\x2f")?.get(..4)?);
            Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
        }
        b"VP8X" => Some((little(data.get(4..7)?) + 1, little(data.get(7..10)?) + 1)),
        _ => None,
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(big(bytes.get(at..at + 4)?))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(big(bytes.get(at..at + 2)?))
}

/// Returns a number of at most four bytes, the highest first.
fn big(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

/// Returns a number of at most four bytes, the lowest first.
fn little(bytes: &[u8]) -> u32 {
    let bytes = bytes.iter().rev();
    bytes.fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [(&str, &[u8]); 8] = [
        (
            "image/png",
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\0\0\0\x01\0",
        ),
        // A frame at once, and one after fill bytes, a segment that holds a marker, and a stray byte.
        ("image/jpeg", b"\xff\xd8\xff\xc0\0\x11\x08\x01\0\x02\0"),
        (
            "image/jpeg",
            b"\xff\xd8\xff\xff\xe0\0\x04\xff\xc0\x01\xff\xc2\0\x11\x08\x01\0\x02\0",
        ),
        ("image/gif", b"GIF87a\0\x02\0\x01\0\0\0"),
        ("image/gif", b"GIF89a\0\x02\0\x01\0\0\0"),
        (
            "image/webp",
            b"RIFF\x01\0\0\0WEBPVP8 \x01\0\0\0\0\0\0\x9d\x01\x2a\0\x02\0\x01",
        ),
        (
            "image/webp",
            b"RIFF\x01\0\0\0WEBPVP8L\x01\0\0\0\x2f\xff\xc1\x3f\0",
        ),
        (
            "image/webp",
            b"RIFF\x01\0\0\0WEBPVP8X\x01\0\0\0\0\0\0\0\xff\x01\0\xff\0\0",
        ),
    ];

    #[test]
    fn a_picture_has_its_type_from_where_it_says_its_size_and_none_before() {
        for (media_type, bytes) in ALL {
            assert_eq!(type_of(bytes), Some(media_type), "{bytes:x?}");
            for end in 0..bytes.len() {
                assert_eq!(type_of(&bytes[..end]), None, "{:x?}", &bytes[..end]);
            }
        }
    }

    #[test]
    fn a_picture_without_a_width_or_a_height_is_none() {
        for bytes in [
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\0\0\0\x01\0".as_slice(),
            b"\x89PNG\r\n\x1a\n\0\0\0\rtEXt\0\0\x02\0\0\0\x01\0",
            b"\xff\xd8\xff\xc0\0\x11\x08\0\0\x02\0",
            b"\xff\xd8\xff\xe0\0\x02\xff\xda\0\x02\xff\xc0\0\x11\x08\x01\0\x02\0",
            b"\xff\xd8\xff\xd9\xff\xc0\0\x11\x08\x01\0\x02\0",
            b"GIF89a\0\0\0\x01\0\0\0",
            b"RIFF\x01\0\0\0WEBPVP8 \x01\0\0\0\0\0\0\x9d\x01\x2a\0\0\0\x01",
            b"RIFF\x01\0\0\0WAVEfmt \x01\0\0\0\0\0\0\0\xff\x01\0\xff\0\0",
        ] {
            assert_eq!(type_of(bytes), None, "{bytes:x?}");
        }
    }
}
