//! Changing what a sale says of itself, and its window.

use domain::{Control, EditedSale, FieldErrors, SaleEdit, SaleWindow, UserId, VoucherId};

use crate::{
    EngineError, SteerError,
    ledger::{LedgerError, audit, sales, sales::SaleRow},
    sales::Sales,
};

/// Why a sale was not changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The fields are wrong; nothing was written.
    #[error("the fields are wrong")]
    Invalid(FieldErrors),
    /// As for steering.
    #[error(transparent)]
    Steer(#[from] SteerError),
    /// A store failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl Sales {
    /// Changes what a sale says of itself, and its window. Saving what is there already changes nothing (R47).
    pub(crate) async fn edit(&self, actor: UserId, id: VoucherId, edit: SaleEdit) -> Result<(), EditError> {
        let mut tx = self.ledger.begin().await.map_err(EngineError::from)?;
        let row = Self::locked(&mut tx, id).await?;
        if row.control == Control::Ended {
            return Err(SteerError::Ended.into());
        }
        let draft = row.control == Control::Draft;
        // A draft has not begun, whatever its window says.
        let before = if draft {
            SaleWindow {
                begins_at: edit.begins_at,
                ..row.window
            }
        } else {
            row.window
        };
        let edited = edit.check(before, self.clock.now()).map_err(EditError::Invalid)?;
        let detail = differences(&row, &edited);
        if detail.is_empty() {
            return Ok(());
        }
        if !sales::edit(&mut tx, &row, &edited)
            .await
            .map_err(EngineError::from)?
        {
            return Err(SteerError::Ended.into());
        }
        audit::write(&mut *tx, Some(actor), "edited", Some(id), &detail)
            .await
            .map_err(EngineError::from)?;
        tx.commit()
            .await
            .map_err(|error| EngineError::from(LedgerError::from(error)))?;
        if draft {
            return Ok(());
        }
        let steered = self
            .kv
            .steer(id, row.epoch, row.version + 1, row.control, edited.window)
            .await;
        self.announce().await;
        // Should Redis have missed it, the guardian makes up for it within a second.
        steered.map_err(EngineError::from)?;
        Ok(())
    }
}

/// What an edit changes, before and after, for the audit log; empty when nothing.
fn differences(row: &SaleRow, edited: &EditedSale) -> String {
    let pairs = [
        ("title", row.title.clone(), edited.title.clone()),
        ("sub_title", row.sub_title.clone(), edited.sub_title.clone()),
        ("rules", row.rules.clone(), edited.rules.clone()),
        (
            "pay_value",
            row.pay_value.to_string(),
            edited.pay_value.to_string(),
        ),
        (
            "actual_value",
            row.actual_value.to_string(),
            edited.actual_value.to_string(),
        ),
        (
            "begins_at",
            row.window.begins_at.to_string(),
            edited.window.begins_at.to_string(),
        ),
        (
            "ends_at",
            row.window.ends_at.to_string(),
            edited.window.ends_at.to_string(),
        ),
    ];
    let changed = pairs.iter().filter(|(_, before, after)| before != after);
    changed
        .map(|(field, before, after)| format!("{field}: {before:?} -> {after:?}"))
        .collect::<Vec<_>>()
        .join("; ")
}
