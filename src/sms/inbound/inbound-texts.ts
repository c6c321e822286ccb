import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { IdGenerator } from '../../common/ids.js';
import { MINUTE_MS } from '../../common/time.js';
import type { PurgeRule } from '../../outbox/purger.js';
import type { ErasureRule } from '../../outbox/retention/erasure-service.js';
import { OptOutIntake } from '../opt-out/opt-out-intake.js';
import { type InboundSms, type PartPlace, partPlace } from '../sms-transport.js';
import { hashOf, ReceivedSmsIntake } from './received-sms-intake.js';
import { isWhole, type LongText, type LongTextContent, ReceivedSmsStore } from './received-sms-store.js';

/** How long a text waits for its other parts, in milliseconds. */
const MAX_WAIT_MS = 10 * MINUTE_MS;
/**
 * How long a whole text is left to the process that got its last part, in milliseconds. That process stores it at once unless it
 * has crashed.
 */
const WHOLE_WAIT_MS = 30_000;
/**
 * How long the parts of a stored text are remembered, in milliseconds, so that a repeat of a part does not begin another text.
 */
const KNOWN_MS = 10 * MINUTE_MS;

/** The maximum number of texts whose parts wait, and of all their characters. A single part may have 65 535 octets. */
const LIMITS = { maxTexts: 1000, maxCharacters: 1_000_000 };

/** The time between two searches for texts that have waited long enough, in milliseconds. */
const SEARCH_EVERY_MS = 15_000;
/** How many texts one search passes on. */
const SEARCH_SIZE = 100;

/** A number has at most 15 digits. */
const MAX_NUMBER_LENGTH = 64;

/**
 * Stores texts of phones. The parts of a long text wait in the database, and the process that gets the last part stores the text.
 * If a part is missing after ten minutes, or if the limits are exceeded, the oldest texts are stored with the parts that have
 * come. The carrier will not send these parts again, because it has our answer to them.
 */
@Injectable()
export class InboundTexts {
  constructor(
    private readonly optOuts: OptOutIntake,
    private readonly intake: ReceivedSmsIntake,
    private readonly store: ReceivedSmsStore,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /**
   * Resolves when texts and parts are stored.
   * @throws StorageUnavailableError the carrier should send them again
   */
  async receive(messages: readonly InboundSms[]): Promise<void> {
    const placed = messages.map(({ part, ...sms }) => ({
      sms,
      place: part && partPlace(part.reference, part.total, part.number),
    }));
    const whole = placed.flatMap(({ sms, place }) => (place ? [] : [sms]));
    for (const sms of whole) if (sms.incomplete !== true) await this.optOuts.apply(sms);
    await Promise.all(whole.map((sms) => this.intake.receive(sms)));
    for (const { sms, place } of placed) if (place) await this.receivePart(sms, place);
  }

  /**
   * Stores at most `limit` of the texts that have waited until `now` or exceed the limits.
   * @returns how many there were
   */
  async passOn(now: number, limit: number): Promise<number> {
    const due = await this.store.dueTexts({ ...LIMITS, dueBy: now, limit });
    const stored = await Promise.allSettled(due.map((text) => this.pass(text)));
    for (const each of stored) if (each.status === 'rejected') throw each.reason;
    return due.length;
  }

  private async receivePart({ route, from, to, text }: InboundSms, place: PartPlace): Promise<void> {
    const { reference, total, number } = place;
    const now = this.clock.now();
    const source = { route, from, to, reference, total };
    const longText = await this.store.addPart(
      {
        id: hashOf('long', ...valuesOf(source)),
        phone: from.slice(0, MAX_NUMBER_LENGTH),
        source,
        number,
        text,
        name: nameOfPart(source, String(number), text),
        revision: this.ids.next(),
        expiresAt: now + MAX_WAIT_MS,
        wholeExpiresAt: now + WHOLE_WAIT_MS,
      },
      now,
    );
    if (longText === undefined) return;
    if (isWhole(longText.content)) return this.pass(longText);
    // The part is stored, so the carrier gets its answer. If this fails, the next search repeats it and logs the error.
    await this.passOn(now, SEARCH_SIZE).catch(() => undefined);
  }

  private async pass(text: LongText): Promise<void> {
    const { id, revision, content } = text;
    const sms = joined(content);
    const whole = isWhole(content);
    // The revision belongs to this text only. So its word counts once, even if two processes pass the text on.
    if (whole) await this.optOuts.apply({ ...sms, id: revision });
    const names = Object.entries(content.parts).map((part) => nameOfPart(content, ...part));
    await this.intake.receive(whole ? sms : { ...sms, incomplete: true }, {
      id,
      revision,
      names,
      expiresAt: this.clock.now() + KNOWN_MS,
    });
  }
}

type Source = Omit<LongTextContent, 'parts'>;

function valuesOf({ route, from, to, reference, total }: Source): readonly string[] {
  return [route, from, to, reference, String(total)];
}

/**
 * Returns the name of a part, which a repeat of the part has too. The name contains the text, because carriers reuse references
 * for other texts.
 */
function nameOfPart(source: Source, number: string, text: string): string {
  return hashOf('part', ...valuesOf(source), number, text);
}

/** Joins the parts of a text. The text has no id, because the carrier gives ids to parts only. */
function joined({ route, from, to, reference, parts }: LongTextContent): InboundSms {
  // JavaScript keeps integer keys in ascending order.
  const inOrder = Object.entries(parts);
  const key = hashOf(from, to, reference, ...inOrder.flat());
  return { route, from, to, text: inOrder.map(([, text]) => text).join(''), key };
}

/** Returns the rule that passes on texts whose other parts have not come in time. */
export function longTextPurge(texts: InboundTexts): PurgeRule {
  return {
    what: 'parts of inbound texts',
    everyMs: SEARCH_EVERY_MS,
    batchSize: SEARCH_SIZE,
    purge: (now, limit) => texts.passOn(now, limit),
  };
}

/** Returns the rule that erases waiting parts of a number. */
export function longTextErasure(store: ReceivedSmsStore): ErasureRule {
  return {
    what: 'inboundParts',
    everywhere: async (number) => ({ inboundParts: await store.eraseParts(number) }),
  };
}
