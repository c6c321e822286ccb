import { Injectable } from '@nestjs/common';
import { AuditLog } from '../accounts/audit/audit.js';
import { Clock } from '../common/clock.js';
import { MessagingError } from '../common/errors.js';
import { checkText } from '../common/inputs.js';
import { dayOf } from '../outbox/accept/decide.js';
import { OutboxStore } from '../outbox/outbox-store.js';
import { list, phoneNumber, text } from '../schemas/builders.js';
import { SmsService, type SmsToSend } from '../sms/sms-service.js';
import { Confirmations } from './confirmations.js';
import type { Tool, ToolCall } from './mcp-tool.js';

/** How many numbers a call of `send_sms` may have. */
const MAX_NUMBERS = 10;

/** The fields that price a text. */
export const TEXT_FIELDS = {
  content: text('The text of the SMS.'),
  number: list(phoneNumber('A recipient.'), {
    minItems: 1,
    maxItems: MAX_NUMBERS,
    description: 'The recipients, E.164 digits without the plus sign.',
  }),
};

const MAX_IDEMPOTENCY_KEY = 128;

/** The tool that sends SMS. It is the only one that spends units. */
@Injectable()
export class SmsTool implements Tool {
  readonly name = 'send_sms';
  readonly title = 'Send an SMS';
  readonly permission = 'sms.send';
  readonly readOnly = false;
  readonly description = [
    `Sends one text to at most ${MAX_NUMBERS} numbers and charges it to the account.`,
    'If the answer has `confirm`, nothing was sent: show the price to the user, and if the user agrees, call the tool again with the same arguments and this token in `confirm`.',
  ].join(' ');
  readonly fields = {
    signature: text('The sender name, which must be one of the account.', { example: 'INFOS' }),
    ...TEXT_FIELDS,
    idempotency_key: text(
      'A new random text for each message. Repeat it, with the same arguments, if you repeat a call whose answer was lost: the message is sent once.',
      { minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY },
    ),
    confirm: text('The token of an earlier answer, after the user has agreed to the price.'),
  };
  readonly required = ['signature', 'content', 'number', 'idempotency_key'];

  constructor(
    private readonly sms: SmsService,
    private readonly outbox: OutboxStore,
    private readonly confirmations: Confirmations,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  async run({ caller, by, given }: ToolCall): Promise<object> {
    const { accountId, key } = caller;
    const { idempotency_key: once, confirm, signature, content, number } = given;
    checkText('idempotency_key', once);
    if (once === '' || once.length > MAX_IDEMPOTENCY_KEY) {
      throw new MessagingError('error.field_invalid', { field: 'idempotency_key' });
    }
    checkText('signature', signature);
    checkNumbers(number);
    // The service checks the rest.
    const order = { signature, content, number } as SmsToSend;
    const { sms_units: units, segments } = await this.sms.quote(order);
    const send = { accountId, send: { family: key?.family ?? null, once, ...order } };
    const confirmed = confirm === undefined ? undefined : await this.confirmations.unitsOf(confirm, send);
    await this.audit.record({
      accountId,
      at: this.clock.now(),
      by,
      action: 'sms.requested',
      target: signature,
      after: { via: 'mcp', recipients: number.length, units, confirmed: confirmed !== undefined },
    });
    // A confirmation of fewer units than the key may spend at once takes nothing away.
    const confirmAbove = key?.confirmAbove === undefined ? undefined : Math.max(key.confirmAbove, confirmed ?? 0);
    try {
      const { reply, replayed } = await this.sms.accept(accountId, order, {
        once: { key: once, body: order },
        key: key && { ...key, confirmAbove },
      });
      return { ...reply, replayed, daily_units_left: await this.leftToday(key) };
    } catch (error) {
      if (!(error instanceof MessagingError && error.code === 'error.confirmation_needed')) throw error;
      return {
        sent: false,
        segments,
        sms_units: units,
        daily_units_left: await this.leftToday(key),
        confirm: await this.confirmations.ask(send, units),
      };
    }
  }

  /** How many units the key's family may still spend today; null without a cap. */
  private async leftToday(key: ToolCall['caller']['key']): Promise<number | null> {
    if (key?.dailyUnits === undefined) return null;
    const spent = await this.outbox.keySpending([key.family], dayOf(this.clock.now()));
    return Math.max(0, key.dailyUnits - (spent.get(key.family) ?? 0));
  }
}

/** @throws MessagingError `error.field_not_list`, `error.too_many_recipients` */
export function checkNumbers(number: unknown): asserts number is readonly unknown[] {
  if (!Array.isArray(number) || number.length === 0)
    throw new MessagingError('error.field_not_list', { field: 'number' });
  if (number.length > MAX_NUMBERS) {
    throw new MessagingError('error.too_many_recipients', { count: number.length, max: MAX_NUMBERS });
  }
}
