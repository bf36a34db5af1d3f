//! What guards find, and what programs are asked.
