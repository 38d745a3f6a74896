//! The pages of a Parquet file, with the length of every dictionary checked before it is believed.
//!
//! The library makes room for as many dictionary values as the head of a page promises, before it looks whether they are
//! there: four damaged bytes in a file of a kilobyte would ask for 16 GB.

use std::sync::Arc;

use parquet::arrow::arrow_reader::RowGroups;
use parquet::basic::Type;
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;

/// All row groups of a file.
pub(crate) struct CheckedGroups<R: ChunkReader> {
    pub bytes: Arc<R>,
    pub metadata: Arc<ParquetMetaData>,
}

impl<R: ChunkReader + 'static> RowGroups for CheckedGroups<R> {
    fn num_rows(&self) -> usize {
        self.row_groups()
            .map(|group| usize::try_from(group.num_rows()).unwrap_or(0))
            .sum()
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        Ok(Box::new(CheckedChunks {
            bytes: self.bytes.clone(),
            metadata: self.metadata.clone(),
            column,
            next_group: 0,
        }))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.metadata.row_groups().iter())
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

/// One column, row group after row group.
struct CheckedChunks<R: ChunkReader> {
    bytes: Arc<R>,
    metadata: Arc<ParquetMetaData>,
    column: usize,
    next_group: usize,
}

impl<R: ChunkReader + 'static> Iterator for CheckedChunks<R> {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        let group = self.metadata.row_groups().get(self.next_group)?;
        self.next_group += 1;
        let Some(chunk) = group.columns().get(self.column) else {
            return Some(Err(ParquetError::General("a column is missing".into())));
        };
        let rows = usize::try_from(group.num_rows()).unwrap_or(0);
        let pages = SerializedPageReader::new(self.bytes.clone(), chunk, rows, None);
        let value_bytes = match chunk.column_type() {
            Type::INT32 | Type::FLOAT => 4,
            Type::INT64 | Type::DOUBLE => 8,
            Type::INT96 => 12,
            Type::FIXED_LEN_BYTE_ARRAY => {
                usize::try_from(chunk.column_descr().type_length()).unwrap_or(1)
            }
            // A text has its length before it.
            Type::BYTE_ARRAY => 4,
            Type::BOOLEAN => 1,
        };
        Some(pages.map(|pages| Box::new(CheckedPages { pages, value_bytes }) as _))
    }
}

impl<R: ChunkReader + 'static> PageIterator for CheckedChunks<R> {}

/// The pages of one column chunk.
struct CheckedPages<P> {
    pages: P,
    /// Bytes that a dictionary value takes at least.
    value_bytes: usize,
}

impl<P: PageReader> CheckedPages<P> {
    fn check(&self, page: Page) -> Result<Page> {
        if let Page::DictionaryPage {
            buf, num_values, ..
        } = &page
            && (*num_values as usize).saturating_mul(self.value_bytes) > buf.len()
        {
            return Err(ParquetError::EOF(format!(
                "{num_values} dictionary values do not fit into {} bytes",
                buf.len()
            )));
        }
        Ok(page)
    }
}

impl<P: PageReader> PageReader for CheckedPages<P> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        page.map(|page| self.check(page)).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

impl<P: PageReader> Iterator for CheckedPages<P> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}
