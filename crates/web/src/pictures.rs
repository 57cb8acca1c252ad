//! Pictures that look the same.
//!
//! The browser draws a page by several threads, and where layers overlap the last digit of a colour
//! depends on when they were put together. Nobody sees such a difference, so a picture counts as an
//! earlier one if each colour of each pixel is nearly that of the other.

use std::collections::VecDeque;
use std::sync::Arc;

/// By how much a colour may differ, of 255.
const DIFFERENCE_MAX: u8 = 3;

/// The most pictures that are kept.
const KEPT_MAX: usize = 48;

/// Pictures that were seen, the last ones.
#[derive(Debug, Default)]
pub(crate) struct Pictures {
    kept: VecDeque<Arc<[u8]>>,
}

impl Pictures {
    /// Returns an earlier picture that looks the same, or the picture itself. Equal pictures are
    /// found by their bytes; others are decoded if their sizes are near to each other.
    pub(crate) fn alike(&mut self, png: &[u8]) -> Arc<[u8]> {
        if let Some(same) = self.kept.iter().find(|kept| ***kept == *png) {
            return same.clone();
        }
        let is_near = |kept: &Arc<[u8]>| kept.len().abs_diff(png.len()) <= 256 + png.len() / 64;
        if self.kept.iter().any(is_near)
            && let Some(own) = decoded(png)
        {
            let looks_same = |kept: &&Arc<[u8]>| {
                is_near(kept) && decoded(kept).is_some_and(|other| are_alike(&own, &other))
            };
            if let Some(same) = self.kept.iter().find(looks_same) {
                return same.clone();
            }
        }
        if self.kept.len() == KEPT_MAX {
            self.kept.pop_front();
        }
        let own: Arc<[u8]> = png.into();
        self.kept.push_back(own.clone());
        own
    }
}

/// A decoded picture: its width and height, and its samples, row by row.
struct Decoded {
    size: (u32, u32),
    samples: Vec<u8>,
}

fn decoded(png: &[u8]) -> Option<Decoded> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().ok()?;
    let mut samples = vec![0; reader.output_buffer_size()?];
    let info = reader.next_frame(&mut samples).ok()?;
    samples.truncate(info.buffer_size());
    Some(Decoded { size: (info.width, info.height), samples })
}

fn are_alike(one: &Decoded, other: &Decoded) -> bool {
    one.size == other.size
        && one.samples.len() == other.samples.len()
        && one.samples.iter().zip(&other.samples).all(|(a, b)| a.abs_diff(*b) <= DIFFERENCE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture of three pixels.
    fn picture(samples: [u8; 9]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 3, 1);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&samples).unwrap();
        writer.finish().unwrap();
        bytes
    }

    #[test]
    fn only_what_nobody_sees_is_the_same() {
        let mut pictures = Pictures::default();
        let first = picture([10, 20, 30, 40, 50, 60, 70, 80, 90]);
        assert_eq!(*pictures.alike(&first), *first);
        let near = picture([11, 20, 27, 40, 50, 60, 70, 83, 90]);
        assert_eq!(*pictures.alike(&near), *first);
        let far = picture([10, 20, 30, 40, 54, 60, 70, 80, 90]);
        assert_eq!(*pictures.alike(&far), *far);
        assert_eq!(*pictures.alike(b"no picture"), *b"no picture");
    }

    #[test]
    fn only_the_last_pictures_are_kept() {
        let mut pictures = Pictures::default();
        for at in 0..=KEPT_MAX {
            let level = u8::try_from(at * 5).unwrap();
            pictures.alike(&picture([level; 9]));
        }
        assert_eq!(pictures.kept.len(), KEPT_MAX);
    }
}
