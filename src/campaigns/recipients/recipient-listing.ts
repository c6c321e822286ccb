import { Injectable } from '@nestjs/common';
import { MessagingError } from '../../common/errors.js';
import { checkInput, checkLimit } from '../../common/inputs.js';
import { cursorOf, textOfCursor } from '../../common/listing/list-query.js';
import { csvLine } from '../../http/csv.js';
import {
  type CampaignRecipient,
  type CampaignRecipientPage,
  RECIPIENT_STATUSES,
  type RecipientStatus,
} from '../campaign.api.js';
import type { Campaign } from '../campaign.js';
import { statusOf } from '../run/slice-counts.js';
import { SliceStore } from '../run/slice-store.js';
import { RecipientStore } from './recipient-store.js';

/** A request for recipients of a campaign. */
export interface CampaignRecipientsQuery {
  /** 1 to 1000. Default 50. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly status?: RecipientStatus | undefined;
}

/** Returns recipients as a caller may see them. */
export type ShowRecipients = (recipients: readonly CampaignRecipient[]) => readonly CampaignRecipient[];

/** Where a page begins: at a recipient that has left the campaign, or after a phone that has not. */
type Place = { readonly left: number } | { readonly phone: string };

const CURSOR = /^(l:\d{1,7}|p:\d{0,15})$/;

/** How many recipients are read for a page at most, and how many at a time for a file. */
const EXAMINED = 5000;
const AT_A_TIME = 1000;

const COLUMNS = ['number', 'status', 'error', 'smsID', 'units', 'refunded_units'] as const;

/** Lists the recipients of campaigns, by pages and as CSV: first those that have become an SMS, in the order in which they did. */
@Injectable()
export class RecipientListing {
  constructor(
    private readonly slices: SliceStore,
    private readonly recipients: RecipientStore,
  ) {}

  /**
   * Lists recipients. With `status`, a page may have fewer than `limit` or none, even if there are more.
   * @throws MessagingError `error.field_invalid`, `error.invalid_cursor`
   */
  async list(campaign: Campaign, query: CampaignRecipientsQuery = {}): Promise<CampaignRecipientPage> {
    checkInput(query);
    const { limit = 50, cursor, status } = query;
    checkLimit(limit);
    checkStatus(status);
    let place: Place | undefined = cursor === undefined ? firstPlace(status) : placeOf(cursor);
    const items: CampaignRecipient[] = [];
    let examined = 0;
    while (place !== undefined && items.length < limit && examined < EXAMINED) {
      const most = status === undefined ? limit - items.length : AT_A_TIME;
      const read: Read = await this.read(campaign, place, most);
      examined += Math.max(1, read.items.length);
      place = read.next;
      for (const item of read.items) {
        if (status !== undefined && item.view.status !== status) continue;
        if (items.length === limit) {
          place = item.place;
          break;
        }
        items.push(item.view);
      }
    }
    return { items, next_cursor: cursorOf(place && textOf(place)) };
  }

  /**
   * Returns all recipients as lines of CSV, after a line with the names of the columns. It reads recipients only as fast as the
   * caller takes lines.
   * @throws MessagingError `error.field_invalid`
   */
  csv(
    campaign: Campaign,
    { status }: Pick<CampaignRecipientsQuery, 'status'>,
    show: ShowRecipients,
  ): AsyncIterable<string> {
    checkStatus(status);
    return this.lines(campaign, status, show);
  }

  private async *lines(
    campaign: Campaign,
    status: RecipientStatus | undefined,
    show: ShowRecipients,
  ): AsyncGenerator<string> {
    yield csvLine(COLUMNS);
    for (let place: Place | undefined = firstPlace(status); place !== undefined; ) {
      const read: Read = await this.read(campaign, place, AT_A_TIME);
      place = read.next;
      const views = read.items.map(({ view }) => view).filter((view) => status === undefined || view.status === status);
      if (views.length > 0)
        yield show(views)
          .map((view) => csvLine(COLUMNS.map((column) => view[column])))
          .join('');
    }
  }

  private read(campaign: Campaign, place: Place, limit: number): Promise<Read> {
    return 'left' in place
      ? this.readLeft(campaign, place.left, limit)
      : this.readPending(campaign, place.phone, limit);
  }

  /** Reads recipients of one slice. */
  private async readLeft(campaign: Campaign, from: number, limit: number): Promise<Read> {
    const slice = await this.slices.at(campaign, from);
    if (!slice) return { items: [], next: { phone: '' } };
    const { first, messageId } = slice;
    const rows = await this.slices.recipients(slice, from - first, limit, campaign.accountId);
    const last = rows.at(-1);
    // Retention may have removed the recipients.
    const end = last && rows.length === limit ? first + last.position + 1 : first + slice.recipients;
    return {
      items: rows.map(({ position, number, status, error = null, units, refundedUnits }) => ({
        place: { left: first + position },
        view: {
          number,
          status: statusOf(status, error ?? undefined),
          error,
          smsID: messageId,
          units,
          refunded_units: refundedUnits,
        },
      })),
      next: { left: end },
    };
  }

  private async readPending(campaign: Campaign, after: string, limit: number): Promise<Read> {
    const rows = await this.recipients.pending(campaign, after, limit);
    const status = campaign.status === 'canceled' ? 'canceled' : 'pending';
    let place = after;
    const items = rows.map(({ phone, number }) => {
      const item = {
        place: { phone: place },
        view: { number, status, error: null, smsID: null, units: 0, refunded_units: 0 } satisfies CampaignRecipient,
      };
      place = phone;
      return item;
    });
    return { items, next: rows.length < limit ? undefined : { phone: place } };
  }
}

/** Recipients with the place at which a page would begin with each. */
interface Read {
  readonly items: readonly { readonly place: Place; readonly view: CampaignRecipient }[];
  /** The place after them; undefined at the end. */
  readonly next: Place | undefined;
}

function firstPlace(status: RecipientStatus | undefined): Place {
  return status === 'pending' ? { phone: '' } : { left: 0 };
}

function textOf(place: Place): string {
  return 'left' in place ? `l:${place.left}` : `p:${place.phone}`;
}

function placeOf(cursor: string): Place {
  const text = textOfCursor(cursor, (each) => CURSOR.test(each));
  const value = text.slice(2);
  return text.startsWith('l') ? { left: Number(value) } : { phone: value };
}

function checkStatus(status: unknown): void {
  if (status !== undefined && !RECIPIENT_STATUSES.some((each) => each === status)) {
    throw new MessagingError('error.field_invalid', { field: 'status' });
  }
}
