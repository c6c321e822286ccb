import { Injectable } from '@nestjs/common';
import { type Author } from '../../accounts/audit/audit-entry.js';
import { Clock } from '../../common/clock.js';
import { type ErrorCode, MessagingError } from '../../common/errors.js';
import { phoneOf } from '../../common/phone-numbers/phone-spellings.js';
import { readNumber } from '../../common/phone-numbers/read-number.js';
import type { Variables } from '../../common/text/personal-text.js';
import { HttpSettings } from '../../http/http-options.js';
import { nextSpan } from '../../outbox/windows/opening.js';
import type { DeliveryWindow } from '../../outbox/windows/window.api.js';
import { SmsSettings } from '../../sms/sms-options.js';
import { type ImportFault, type ImportResult, MAX_IMPORT_ERRORS } from '../campaign.api.js';
import type { Campaign, CampaignKey, PendingRecipient } from '../campaign.js';
import { CampaignSettings } from '../campaign-options.js';
import { CampaignText } from './campaign-text.js';
import { readCsv } from './csv-reader.js';
import { type OpenImport, RecipientStore } from './recipient-store.js';

/** A recipient as an import gives it. */
interface GivenRecipient {
  /** The line of the file, or the place in the list. */
  readonly row: number;
  readonly number: unknown;
  readonly vars: Readonly<Record<string, unknown>>;
  /** Set if the row cannot be read. */
  readonly fault?: ErrorCode;
  /** Whether the file may have been cut in it. */
  readonly isOpen?: boolean;
}

/** How many rows a transaction stores. */
const BATCH = 1000;

const INVALID_NUMBER = wordOf('error.invalid_number');

/** The longest value in an answer, in characters. */
const MAX_SHOWN = 64;

/**
 * Adds recipients to drafts, from lists and from files. Wrong rows and repeated phones are left out and counted. An import is stored
 * completely or not at all. It uses the memory of a thousand rows, however many there are.
 */
@Injectable()
export class RecipientImport {
  constructor(
    private readonly store: RecipientStore,
    private readonly settings: CampaignSettings,
    private readonly sms: SmsSettings,
    private readonly http: HttpSettings,
    private readonly clock: Clock,
  ) {}

  /**
   * Adds the recipients of a list.
   * @throws MessagingError `error.campaign_not_found`, `error.campaign_state`, `error.campaign_importing`,
   * `error.campaign_too_large`, `error.recipients_not_list`
   */
  async list(key: CampaignKey, to: readonly unknown[], by?: Author): Promise<ImportResult> {
    return this.run(key, by, () => Promise.resolve(entriesOf(to)));
  }

  /**
   * Adds the recipients of a CSV file.
   * @param column the column with the numbers
   * @throws MessagingError those of `list` and of `readCsv`, and `error.csv_no_column`
   */
  async csv(key: CampaignKey, bytes: AsyncIterable<Uint8Array>, column: string, by?: Author): Promise<ImportResult> {
    return this.run(key, by, async (text) => {
      const { columns, rows } = await readCsv(bytes, this.settings.maxImportBytes);
      const place = columns.indexOf(column);
      if (place < 0) throw new MessagingError('error.csv_no_column', { column: column.slice(0, MAX_SHOWN) });
      const used = text.variables.map((name) => [name, columns.indexOf(name)] as const).filter(([, at]) => at >= 0);
      return (async function* (): AsyncGenerator<GivenRecipient> {
        for await (const { line, cells, isOpen } of rows) {
          if (!cells) yield { row: line, number: '', vars: {}, fault: 'error.csv_short_row' };
          else {
            const vars = Object.fromEntries(used.map(([name, at]) => [name, cells[at]]));
            yield { row: line, number: cells[place]?.trim(), vars, isOpen };
          }
        }
      })();
    });
  }

  private async run(
    key: CampaignKey,
    by: Author | undefined,
    read: (text: CampaignText) => Promise<AsyncIterable<GivenRecipient>>,
  ): Promise<ImportResult> {
    const open = await this.store.begin(key, this.clock.now());
    if (!open) throw new MessagingError('error.campaign_not_found');
    try {
      const text = CampaignText.of(open.campaign.content, this.sms);
      const result = await this.addAll(open, text, await read(text));
      await this.store.finish(open, result.imported, this.clock.now(), by);
      return result;
    } catch (error) {
      await this.store.abandon(open).catch(() => undefined);
      throw error;
    }
  }

  private async addAll(
    open: OpenImport,
    text: CampaignText,
    given: AsyncIterable<GivenRecipient>,
  ): Promise<ImportResult> {
    const errors: ImportFault[] = [];
    let batch = new Map<string, PendingRecipient>();
    let imported = 0;
    let duplicates = 0;
    let invalid = 0;
    const room = this.settings.maxRecipients - open.campaign.recipients;
    const flush = async (): Promise<void> => {
      if (batch.size === 0) return;
      const added = await this.store.add(open, [...batch.values()], this.clock.now());
      duplicates += batch.size - added;
      imported += added;
      batch = new Map();
      if (imported > room) throw new MessagingError('error.campaign_too_large', { max: this.settings.maxRecipients });
    };
    for await (const recipient of given) {
      const read = this.read(recipient, text, open.campaign);
      if ('reason' in read) {
        // A number that is wrong at the very end of a file is the beginning of one.
        if (recipient.isOpen && read.reason === INVALID_NUMBER) {
          throw new MessagingError('error.csv_cut', { line: recipient.row });
        }
        invalid++;
        if (errors.length < MAX_IMPORT_ERRORS) errors.push(read);
      } else if (batch.has(read.phone)) duplicates++;
      else batch.set(read.phone, read);
      if (batch.size >= BATCH) await flush();
    }
    await flush();
    return { imported, duplicates, invalid, errors };
  }

  /** A recipient that can be sent to, or what is wrong with it. */
  private read(
    { row, number: given, vars, fault }: GivenRecipient,
    text: CampaignText,
    { national, window }: Campaign,
  ): PendingRecipient | ImportFault {
    if (fault) return { row, value: '', reason: wordOf(fault) };
    const number = this.numberOf(given, national);
    if (number === undefined) return { row, value: shown(given), reason: INVALID_NUMBER };
    if (!this.opens(window, number)) return { row, value: number, reason: wordOf('error.window_empty') };
    const wrong = text.faultIn(vars);
    if (wrong) return { row, value: wrong.variable ?? number, reason: wordOf(wrong.code) };
    // `faultIn` has found that the values that the text uses are texts.
    return { phone: phoneOf(number), number, vars: text.usedOf(vars as Variables) };
  }

  private numberOf(given: unknown, national: boolean): string | undefined {
    if (typeof given !== 'string') return undefined;
    if (this.isRecipient(given)) return given;
    const { home } = this.http;
    const read = national && home !== undefined ? readNumber(given, { home }) : undefined;
    return read !== undefined && this.isRecipient(read) ? read : undefined;
  }

  /** Whether a window opens in the country of a number. If it does not, the SMS could never be handed over. */
  private opens(window: DeliveryWindow | undefined, number: string): boolean {
    return window === undefined || nextSpan(window, number, this.clock.now()) !== undefined;
  }

  private isRecipient(number: string): boolean {
    try {
      this.sms.recipients.check(number);
      return true;
    } catch (error) {
      if (error instanceof MessagingError) return false;
      throw error;
    }
  }
}

async function* entriesOf(to: readonly unknown[]): AsyncGenerator<GivenRecipient> {
  for (const [index, entry] of to.entries()) {
    const { number, vars } = fieldsOf(entry);
    yield { row: index + 1, number, vars: fieldsOf(vars) };
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function wordOf(code: ErrorCode): string {
  return code.slice('error.'.length);
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text;
}
