import type { ErrorCode } from '../../common/errors.js';
import type { SendStep } from '../../outbox/accept/send-step.js';
import { databaseTime } from '../../storage/database-time.js';
import type { Operation } from '../../storage/engine/operation.js';
import type { Campaign, PendingRecipient } from '../campaign.js';
import { lockCampaign } from '../campaign-store.js';

/** Recipients of a campaign that are to become an SMS. */
export interface SliceOrder {
  /** The campaign as it was read when these recipients were the next ones. */
  readonly campaign: Campaign;
  readonly recipients: readonly PendingRecipient[];
  /** How long no further slice may be accepted afterwards, in milliseconds. */
  readonly restMs: number;
  readonly now: number;
}

/**
 * The step of a send by which its recipients leave their campaign. It refuses the send if the campaign is not running, if another
 * process looks after it, or if these recipients have already left it.
 */
export function sliceStep({ campaign, recipients, restMs, now: given }: SliceOrder): SendStep {
  const { id, epoch, accepted, place, batches } = campaign;
  const last = recipients.at(-1)?.phone ?? place;
  let now = given;
  return {
    *check(dialect): Operation<ErrorCode | undefined> {
      const present = yield* lockCampaign(dialect, { id });
      const isNext = present?.status === 'running' && present.epoch === epoch && present.accepted === accepted;
      // An erased number is no longer one of the recipients.
      if (!isNext || present.recipients !== campaign.recipients) return 'error.campaign_moved';
      now = yield* databaseTime(dialect, given);
      return now < present.dueAt ? 'error.campaign_moved' : undefined;
    },
    write(dialect, send) {
      const units = send.recipients.reduce((sum, recipient) => sum + recipient.units, 0);
      const count = recipients.length;
      return [
        {
          sql: 'UPDATE messaging_campaign SET accepted = accepted + ?, place = ?, units = units + ?, due_at = ? WHERE id = ?',
          params: [count, last, units, now + restMs, id],
        },
        {
          sql: 'DELETE FROM messaging_campaign_recipient WHERE campaign_id = ? AND phone > ? AND phone <= ? AND batch <= ?',
          params: [id, place, last, batches],
        },
        dialect.insertRows({
          table: 'messaging_campaign_slice',
          shape: SLICE_ROW,
          rows: [[id, send.id, accepted, count, count, 1, 0, now]],
        }),
      ];
    },
  };
}

const SLICE_ROW = {
  campaign_id: 'id',
  message_id: 'id',
  first: 'integer',
  recipients: 'integer',
  waiting: 'integer',
  open: 'integer',
  counted_at: 'integer',
  accepted_at: 'integer',
} as const;
