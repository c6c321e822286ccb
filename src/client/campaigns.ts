import type {
  CampaignQuote,
  CampaignRecipient,
  CampaignRemoved,
  CampaignTest,
  CampaignView,
  ImportResult,
  RecipientStatus,
} from '../campaigns/campaign.api.js';
import type { Metadata } from '../events/events.api.js';
import type { WindowInput } from '../outbox/windows/window.api.js';
import type { Caller, CallOptions, SendOptions } from './caller.js';
import type { Listing } from './listing.js';

/** A campaign to make. */
export interface CampaignOrder {
  /** A name for people, 1 to 128 characters. */
  readonly name: string;
  /** The sender name. Default: the signature of the template. */
  readonly signature?: string | undefined;
  /** The text. `{name}` stands for a variable of each recipient, `{{` and `}}` for braces. */
  readonly content?: string | undefined;
  /** The name of a template, in place of `content`. The campaign keeps the text that it has now. */
  readonly template?: string | undefined;
  /** When it starts at the earliest: ISO 8601 with its zone, at most 180 days ahead. Default: at once. */
  readonly send_at?: string | undefined;
  /** The most SMS per minute, 1 to 1 000 000. Default: as fast as the carriers take them. */
  readonly per_minute?: number | undefined;
  /** Seconds from the acceptance of each SMS to the latest hand-over, 5 to 2 592 000. Default: no limit. */
  readonly valid_for?: number | undefined;
  /** The times at which SMS may be handed over. Null: at any time. Default: that of the service for bulk SMS. */
  readonly window?: WindowInput | null | undefined;
  /** Whether numbers of the home market may be given in national form. Default false. */
  readonly national?: boolean | undefined;
  /** The metadata of each SMS. */
  readonly metadata?: Metadata | undefined;
}

/** A recipient with the values of its variables. */
export interface CampaignAddressee {
  readonly number: string;
  readonly vars?: Readonly<Record<string, string>> | undefined;
}

/** Which campaigns to list. */
export interface CampaignsQuery {
  /** 1 to 500. Default 50. */
  readonly limit?: number | undefined;
}

/** Which recipients to list. */
export interface CampaignRecipientsQuery extends CampaignsQuery {
  readonly status?: RecipientStatus | undefined;
}

/** Campaigns: a text for up to a million recipients. */
export class CampaignRoutes {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Makes a draft. */
  create(order: CampaignOrder, options?: SendOptions): Promise<CampaignView> {
    return this.#post([], order, options);
  }

  /** Lists the campaigns, newest first. */
  list(query?: CampaignsQuery, options?: CallOptions): Listing<CampaignView> {
    return this.#caller.list(['campaigns'], query, options);
  }

  get(id: string, options?: CallOptions): Promise<CampaignView> {
    return this.#caller.json({ path: ['campaigns', id] }, options);
  }

  /** Removes a draft. */
  remove(id: string, options?: CallOptions): Promise<CampaignRemoved> {
    return this.#caller.json({ method: 'DELETE', path: ['campaigns', id], gone: { success: true } }, options);
  }

  /**
   * Adds recipients to a draft.
   * @param recipients a list, or a CSV file
   * @param column with a file: the name of the column with the numbers. Default `number`
   */
  addRecipients(
    id: string,
    recipients: readonly CampaignAddressee[] | Blob,
    { column, ...options }: CallOptions & { readonly column?: string | undefined } = {},
  ): Promise<ImportResult> {
    const path = ['campaigns', id, 'recipients'];
    return recipients instanceof Blob
      ? this.#caller.json({ method: 'POST', path, query: { number: column }, file: recipients, large: true }, options)
      : this.#caller.json({ method: 'POST', path, body: { to: recipients } }, options);
  }

  /** Lists the recipients, first those that have become an SMS. */
  recipients(id: string, query?: CampaignRecipientsQuery, options?: CallOptions): Listing<CampaignRecipient> {
    return this.#caller.list(['campaigns', id, 'recipients'], query, options);
  }

  /** Returns all recipients as a CSV file. */
  recipientsCsv(id: string, query?: Pick<CampaignRecipientsQuery, 'status'>, options?: CallOptions): Promise<Blob> {
    const ask = { path: ['campaigns', id, 'recipients'], query, accept: 'text/csv', large: true } as const;
    return this.#caller.read(ask, options, (response) => response.blob());
  }

  /** Prices the recipients that have not become an SMS. It charges nothing. */
  quote(id: string, options?: CallOptions): Promise<CampaignQuote> {
    return this.#caller.json({ method: 'POST', path: ['campaigns', id, 'quote'], large: true }, options);
  }

  /** Sends the text to one number. */
  test(id: string, recipient: CampaignAddressee, options?: SendOptions): Promise<CampaignTest> {
    return this.#post([id, 'test'], recipient, options);
  }

  start(id: string, options?: SendOptions): Promise<CampaignView> {
    return this.#post([id, 'start'], undefined, options);
  }

  pause(id: string, options?: SendOptions): Promise<CampaignView> {
    return this.#post([id, 'pause'], undefined, options);
  }

  resume(id: string, options?: SendOptions): Promise<CampaignView> {
    return this.#post([id, 'resume'], undefined, options);
  }

  /** Cancels it for good, with its SMS that still wait for a carrier. Their units are refunded. */
  cancel(id: string, options?: SendOptions): Promise<CampaignView> {
    return this.#post([id, 'cancel'], undefined, options);
  }

  #post<T>(steps: readonly string[], body: object | undefined, options?: SendOptions): Promise<T> {
    return this.#caller.json({ method: 'POST', path: ['campaigns', ...steps], body, repeat: 'keyed' }, options);
  }
}
