import type { NewEvent } from '../../events/event-types.js';

/** A text of a phone, as it is stored: the name of it, and its events. */
export interface ReceivedText {
  /** The id of its events. */
  readonly id: string;
  /** What a repeat has too. At most 64 characters. */
  readonly name: string;
  /** Until when the name is kept, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** One for each account that it belongs to. */
  readonly events: readonly NewEvent<'sms.received'>[];
  /** The parts that it was joined from. It is new only if these still wait as they were. */
  readonly joined?: JoinedParts;
}

/** The parts that a text was joined from. */
export interface JoinedParts extends Pick<LongText, 'id' | 'revision'> {
  /** What a repeat of each part has too. */
  readonly names: readonly string[];
  /** Until when these names are kept, in milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** A text whose parts wait. */
export interface LongText {
  /** At most 64 characters. */
  readonly id: string;
  /** Another one after each change. */
  readonly revision: string;
  readonly content: LongTextContent;
}

export interface LongTextContent {
  readonly route: string;
  readonly from: string;
  readonly to: string;
  /** What its parts share. */
  readonly reference: string;
  /** How many parts it has. */
  readonly total: number;
  /** The parts that have come, by their numbers from 1. */
  readonly parts: Readonly<Record<number, string>>;
}

export function isWhole({ parts, total }: LongTextContent): boolean {
  return Object.keys(parts).length === total;
}

/** A part of a long text. */
export interface NewPart extends Pick<LongText, 'id' | 'revision'> {
  /** The number of the phone, by which the text is erased. At most 64 characters. */
  readonly phone: string;
  readonly source: Omit<LongTextContent, 'parts'>;
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** What a repeat has too. */
  readonly name: string;
  /** Until when the text waits for its other parts if this one begins it, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Until when it waits to be stored if this part completes it. */
  readonly wholeExpiresAt: number;
}

/** Which waiting texts are to be passed on. */
export interface DueTextsOrder {
  /** Those that wait until this moment or an earlier one, in milliseconds since the epoch. */
  readonly dueBy: number;
  /** The oldest, if there are more than so many. */
  readonly maxTexts: number;
  /** The oldest, if all have more than so many characters, as they are stored. */
  readonly maxCharacters: number;
  readonly limit: number;
}

/** Who has written to a phone. */
export interface WriterQuery {
  /** E.164 digits without the plus sign. */
  readonly number: string;
  readonly signatures: readonly string[];
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/**
 * Persists which texts of phones have come, so that each gives its events once, and the parts of long ones. Every method is one transaction.
 * @throws StorageUnavailableError from every method, when the database is unavailable
 */
export abstract class ReceivedSmsStore {
  /**
   * Stores the names of texts with their events in the accounts' logs; of a repeat, nothing. The parts that a text was joined
   * from are removed, and their names are stored; if they are gone or have changed, the text is not new.
   * @returns for each text, whether it is new
   */
  abstract receive(texts: readonly ReceivedText[], now: number): Promise<readonly boolean[]>;

  /**
   * The account whose text to a number under one of these signatures is the newest, among those since a moment; undefined:
   * none. It looks once into each account.
   */
  abstract lastWriter(query: WriterQuery): Promise<string | undefined>;

  /**
   * Stores a part. Parts of one text that come at once, also in several processes, are stored one after the other, so that
   * one of them completes it.
   * @returns the text with all parts that have come; undefined: the part is a repeat of one whose text is stored
   */
  abstract addPart(part: NewPart, now: number): Promise<LongText | undefined>;

  /** The waiting texts that are due, the oldest first. They go on waiting until `receive` removes their parts. */
  abstract dueTexts(order: DueTextsOrder): Promise<readonly LongText[]>;

  /**
   * Removes the waiting parts of a number, in all of its spellings.
   * @returns how many texts they were of
   */
  abstract eraseParts(number: string): Promise<number>;

  /**
   * Removes at most `limit` names that have expired by `now`, milliseconds since the epoch.
   * @returns how many were removed
   */
  abstract purge(now: number, limit: number): Promise<number>;
}
