import { countCodePoints } from './segment-characters.js';

/** The two alphabets of an SMS (3GPP TS 23.038 clauses 6.2.1 and 6.2.3). */
export type Encoding = 'GSM-7' | 'UCS-2';

/** What a text takes to send. */
export class Measurement {
  /** Not a plain property: a text must not show when a measurement is logged. */
  readonly #text: string;

  constructor(
    readonly encoding: Encoding,
    /** SMS that are sent and paid, at least 1. */
    readonly segments: number,
    /** Septets of GSM-7, UTF-16 units of UCS-2. */
    readonly units: number,
    text: string,
  ) {
    this.#text = text;
  }

  /** Code points. Counted when asked for: nothing is priced by them, and counting takes longer than all the rest. */
  get characters(): number {
    return this.encoding === 'GSM-7' ? this.#text.length : countCodePoints(this.#text);
  }

  toJSON(): { encoding: Encoding; segments: number; characters: number; units: number } {
    return { encoding: this.encoding, segments: this.segments, characters: this.characters, units: this.units };
  }
}
