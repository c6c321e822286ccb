import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { Author } from '../accounts/audit/audit-entry.js';
import { SignatureDirectory } from '../accounts/signatures/signature-directory.js';
import { Clock } from '../common/clock.js';
import { MessagingError } from '../common/errors.js';
import { IdGenerator, isId } from '../common/ids.js';
import { checkAccountId, checkInput, checkLimit, checkString } from '../common/inputs.js';
import { cursorOf, textOfCursor } from '../common/listing/list-query.js';
import { Notifier, publishNotice } from '../common/notifier.js';
import { MAX_VARIABLE_VALUE, type Variables } from '../common/text/personal-text.js';
import { MessagingEvents } from '../events/messaging-events.js';
import type { SendKey } from '../outbox/accept/send.js';
import { Idempotency, type IdempotentRequest } from '../outbox/idempotency.js';
import { SmsSettings } from '../sms/sms-options.js';
import { SmsService } from '../sms/sms-service.js';
import { TemplateService } from '../sms/templates/template-service.js';
import type {
  CampaignPage,
  CampaignQuote,
  CampaignRecipientPage,
  CampaignTest,
  CampaignView,
  ImportResult,
} from './campaign.api.js';
import type { Campaign, CampaignKey } from './campaign.js';
import { CampaignCounter } from './campaign-counts.js';
import { type CampaignDraft, definitionOf } from './campaign-input.js';
import { CampaignQuotes } from './campaign-quotes.js';
import type { CampaignAction } from './campaign-states.js';
import { CampaignStore } from './campaign-store.js';
import { campaignView } from './campaign-view.js';
import { CampaignText } from './recipients/campaign-text.js';
import { RecipientImport } from './recipients/recipient-import.js';
import { type CampaignRecipientsQuery, RecipientListing, type ShowRecipients } from './recipients/recipient-listing.js';
import { CampaignWithdrawal } from './run/campaign-withdrawal.js';

/** The answer to a call of this service. */
export interface CampaignAnswer<T> {
  readonly reply: T;
  /** True: an earlier request with the same Idempotency-Key got this answer, and this request did nothing. */
  readonly replayed: boolean;
}

/** Options of the calls that change something. */
export interface CampaignCallOptions {
  /** The change is made once, no matter how often this key comes within 24 hours. */
  readonly once?: IdempotentRequest | undefined;
  /** Who makes the change, for the audit log. Default: the host. */
  readonly by?: Author | undefined;
  /** The caller's key (`caller.key`). The SMS must keep its daily cap. */
  readonly key?: SendKey | undefined;
}

/** A request for a page of campaigns. */
export interface CampaignListQuery {
  /** 1 to 1000. Default 50. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** The recipient of a test. */
export interface TestRecipient {
  /** E.164 digits without the plus sign. */
  readonly number: string;
  readonly vars?: Variables | null | undefined;
}

/**
 * Manages campaigns: a text for up to a million recipients, which become SMS one slice at a time. Hosts can use it without our
 * routes. It trusts `accountId`. Every method that names a campaign throws `error.campaign_not_found` for a campaign of another
 * account. Every method can throw `error.storage_unavailable`.
 *
 * @example
 * ```ts
 * const { reply } = await campaigns.create('shop', { name: 'Soldes', signature: 'SHOP', content: 'Bonjour {name}' });
 * await campaigns.importList('shop', reply.id, [{ number: '22670000001', vars: { name: 'Awa' } }]);
 * await campaigns.start('shop', reply.id);
 * ```
 */
@Injectable()
export class CampaignService {
  constructor(
    private readonly store: CampaignStore,
    private readonly imports: RecipientImport,
    private readonly listing: RecipientListing,
    private readonly counter: CampaignCounter,
    private readonly quotes: CampaignQuotes,
    private readonly withdrawal: CampaignWithdrawal,
    private readonly sms: SmsService,
    private readonly smsSettings: SmsSettings,
    private readonly signatures: SignatureDirectory,
    private readonly templates: TemplateService,
    private readonly idempotency: Idempotency,
    private readonly events: MessagingEvents,
    private readonly notifier: Notifier,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /**
   * Makes a draft.
   * @throws MessagingError `error.field_missing`, `error.field_invalid`, `error.field_not_string`, `error.field_not_integer`,
   * `error.field_not_object`, `error.metadata_too_large`, `error.empty_message`, `error.stray_brace`, `error.too_many_segments`,
   * `error.unsendable_character`, `error.fields_exclusive`, `error.template_not_found`, `error.valid_for_invalid`,
   * `error.window_invalid`, `error.signature_refused`, `error.account_not_found`, `error.idempotency_mismatch`,
   * `error.idempotency_running`
   */
  create(
    accountId: string,
    draft: CampaignDraft,
    { once, by }: CampaignCallOptions = {},
  ): Promise<CampaignAnswer<CampaignView>> {
    checkAccountId(accountId);
    return this.once(accountId, 'campaigns', once, async () => {
      const createdAt = this.clock.now();
      const definition = await definitionOf(draft, {
        now: createdAt,
        window: this.smsSettings.windows.bulk,
        find: (template) => this.templates.find(accountId, template),
      });
      CampaignText.of(definition.content, this.smsSettings);
      await this.checkSignature(accountId, definition.signature);
      return this.view(await this.store.create({ ...definition, id: this.ids.next(), accountId, createdAt }, by));
    });
  }

  /**
   * Lists the campaigns of an account, newest first. Their counts may be some seconds old.
   * @throws MessagingError `error.invalid_cursor`, `error.field_invalid`
   */
  async list(accountId: string, query: CampaignListQuery = {}): Promise<CampaignPage> {
    checkAccountId(accountId);
    checkInput(query);
    const { limit = 50, cursor } = query;
    checkLimit(limit);
    const after = cursor === undefined ? undefined : textOfCursor(cursor, isId);
    const { items, next } = await this.store.list(accountId, { limit, after });
    const now = this.clock.now();
    const views = items.map(async (item) => campaignView(await this.counter.count(item, 0), now));
    return { items: await Promise.all(views), next_cursor: cursorOf(next) };
  }

  async get(accountId: string, id: string): Promise<CampaignView> {
    return this.view(await this.find(accountId, id));
  }

  /**
   * Adds recipients from a list to a draft. Wrong entries and repeated phones are left out and counted.
   * @throws MessagingError `error.campaign_state`, `error.campaign_importing`, `error.campaign_too_large`,
   * `error.recipients_not_list`
   */
  importList(
    accountId: string,
    id: string,
    to: readonly unknown[],
    { by }: Pick<CampaignCallOptions, 'by'> = {},
  ): Promise<ImportResult> {
    if (!Array.isArray(to) || to.length === 0) throw new MessagingError('error.recipients_not_list', { field: 'to' });
    return this.imports.list(keyOf(accountId, id), to, by);
  }

  /**
   * Adds recipients from a CSV file to a draft. The file is read as a stream. It is imported completely, or not at all.
   * @param column the name of the column with the numbers
   * @throws MessagingError those of `importList`, `error.body_too_large`, `error.csv_encoding`, `error.csv_malformed`,
   * `error.csv_cut`, `error.csv_empty`, `error.csv_column_twice`, `error.csv_no_column`
   */
  importCsv(
    accountId: string,
    id: string,
    file: Readable | AsyncIterable<Uint8Array>,
    { column = 'number', by }: Pick<CampaignCallOptions, 'by'> & { readonly column?: string | undefined } = {},
  ): Promise<ImportResult> {
    return this.imports.csv(keyOf(accountId, id), file, column, by);
  }

  /** Returns the price of the recipients that have not become an SMS. It charges nothing. */
  async quote(accountId: string, id: string): Promise<CampaignQuote> {
    return this.quotes.quote(await this.find(accountId, id));
  }

  /**
   * Sends the text to one number, for a look at it. The number need not be a recipient.
   * @throws MessagingError `error.variable_missing` and the errors of `SmsService.send`
   */
  async test(
    accountId: string,
    id: string,
    recipient: TestRecipient,
    { once, key }: Pick<CampaignCallOptions, 'once' | 'key'> = {},
  ): Promise<CampaignAnswer<CampaignTest>> {
    const { signature, content: given } = await this.find(accountId, id);
    return this.once(accountId, `campaigns/${id}/test`, once, async () => {
      checkInput(recipient);
      const { number, vars } = recipient;
      checkString('number', number);
      const text = CampaignText.of(given, this.smsSettings);
      const fault = text.faultIn(vars ?? {});
      if (fault) {
        const { code, variable = '' } = fault;
        throw new MessagingError(code, { number, variable, field: variable, max: MAX_VARIABLE_VALUE });
      }
      const content = text.completed(vars ?? {}).text;
      const { smsID, sms_units } = await this.sms.send(accountId, { signature, content, number: [number] }, { key });
      return { smsID, content, sms_units };
    });
  }

  /**
   * Starts a draft: at once, or at its `send_at`.
   * @throws MessagingError `error.campaign_state`, `error.campaign_empty`, `error.campaign_importing`, `error.signature_refused`
   */
  start(accountId: string, id: string, options: CampaignCallOptions = {}): Promise<CampaignAnswer<CampaignView>> {
    return this.change(accountId, id, 'start', options);
  }

  /** Pauses a campaign. SMS that it has become are still handed over. @throws MessagingError `error.campaign_state` */
  pause(accountId: string, id: string, options: CampaignCallOptions = {}): Promise<CampaignAnswer<CampaignView>> {
    return this.change(accountId, id, 'pause', options);
  }

  /** Resumes a paused campaign, whatever has paused it. @throws MessagingError `error.campaign_state` */
  resume(accountId: string, id: string, options: CampaignCallOptions = {}): Promise<CampaignAnswer<CampaignView>> {
    return this.change(accountId, id, 'resume', options);
  }

  /**
   * Cancels a campaign for good. Recipients that have not become an SMS get none. SMS that no worker has claimed are canceled and
   * refunded. A repeat cancels what a crash has left.
   * @throws MessagingError `error.campaign_state` also if it is completed
   */
  cancel(accountId: string, id: string, options: CampaignCallOptions = {}): Promise<CampaignAnswer<CampaignView>> {
    return this.change(accountId, id, 'cancel', options);
  }

  /** Removes a draft with its recipients. @throws MessagingError `error.campaign_state`, `error.campaign_importing` */
  async remove(
    accountId: string,
    id: string,
    { by }: Pick<CampaignCallOptions, 'by'> = {},
  ): Promise<{ readonly success: true }> {
    if (!(await this.store.remove(keyOf(accountId, id), this.clock.now(), by))) throw notFound();
    return { success: true };
  }

  /**
   * Lists the recipients of a campaign, first those that have become an SMS. With `status`, a page may have fewer items or none,
   * even if there are more. Continue until `next_cursor` is null.
   *
   * @throws MessagingError `error.invalid_cursor`, `error.field_invalid`
   */
  async recipients(accountId: string, id: string, query: CampaignRecipientsQuery = {}): Promise<CampaignRecipientPage> {
    return this.listing.list(await this.find(accountId, id), query);
  }

  /**
   * Returns all recipients as lines of CSV.
   * @param show masks what the caller may not see. Default: nothing
   * @throws MessagingError `error.field_invalid`
   */
  async recipientsCsv(
    accountId: string,
    id: string,
    filter: Pick<CampaignRecipientsQuery, 'status'> = {},
    show: ShowRecipients = (recipients) => recipients,
  ): Promise<AsyncIterable<string>> {
    return this.listing.csv(await this.find(accountId, id), filter, show);
  }

  private change(
    accountId: string,
    id: string,
    action: CampaignAction,
    { once, by, key }: CampaignCallOptions,
  ): Promise<CampaignAnswer<CampaignView>> {
    const campaignKey = keyOf(accountId, id);
    return this.once(accountId, `campaigns/${id}/${action}`, once, async () => {
      if (action === 'start') await this.checkSignature(accountId, (await this.find(accountId, id)).signature);
      const order = { action, at: this.clock.now(), key, by: by ?? ({ kind: 'host' } as const) };
      const changed = await this.store.change(campaignKey, order);
      if (!changed) throw notFound();
      for (const event of changed.events) this.events.publish(event);
      publishNotice(this.notifier, 'campaign', id);
      // If this fails, the campaign's process goes on with it, and so does a repeat of the call.
      if (action === 'cancel') await this.withdrawal.withdraw(changed.campaign);
      return this.view(changed.campaign);
    });
  }

  private async once<T extends object>(
    accountId: string,
    route: string,
    once: IdempotentRequest | undefined,
    work: () => Promise<T>,
  ): Promise<CampaignAnswer<T>> {
    // `work` has made the reply, and the store returns it unchanged.
    return (await this.idempotency.keeping(accountId, route, once, work)) as CampaignAnswer<T>;
  }

  private async checkSignature(accountId: string, signature: string): Promise<void> {
    if (!(await this.signatures.isUsable(accountId, signature))) throw new MessagingError('error.signature_refused');
  }

  private async view(campaign: Campaign): Promise<CampaignView> {
    return campaignView(await this.counter.count(campaign), this.clock.now());
  }

  private async find(accountId: string, id: string): Promise<Campaign> {
    const campaign = await this.store.find(keyOf(accountId, id));
    if (!campaign) throw notFound();
    return campaign;
  }
}

/** @throws MessagingError `error.campaign_not_found` for a malformed id */
function keyOf(accountId: string, id: string): CampaignKey {
  checkAccountId(accountId);
  if (!isId(id)) throw notFound();
  return { accountId, id };
}

function notFound(): MessagingError {
  return new MessagingError('error.campaign_not_found');
}
