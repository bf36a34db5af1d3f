//! How much a worker does at once.

use temporalio_sdk::runtime::worker_tuner::{FixedSizeSlotSupplier, TunerHolder, WorkerTuner};

/// The default of each kind: the same as the SDK's.
const SLOTS: usize = 100;

/// How much a worker does at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slots {
    pub(crate) workflow_tasks: usize,
    pub(crate) activities: usize,
    pub(crate) local_activities: usize,
}

impl Default for Slots {
    fn default() -> Self {
        Self {
            workflow_tasks: SLOTS,
            activities: SLOTS,
            local_activities: SLOTS,
        }
    }
}

impl From<Slots> for WorkerTuner {
    fn from(slots: Slots) -> Self {
        TunerHolder::builder()
            .workflow_task_slot_supplier(FixedSizeSlotSupplier::new(slots.workflow_tasks))
            .activity_task_slot_supplier(FixedSizeSlotSupplier::new(slots.activities))
            .local_activity_task_slot_supplier(FixedSizeSlotSupplier::new(slots.local_activities))
            .nexus_task_slot_supplier(FixedSizeSlotSupplier::new(SLOTS))
            .build()
            .into()
    }
}
