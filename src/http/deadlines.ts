import type { Clock } from '../common/clock.js';

/** A place in the line. */
interface Place {
  /** By the clock's `elapsed`. */
  readonly at: number;
  readonly expire: () => void;
  before: Place | undefined;
  behind: Place | undefined;
  left: boolean;
}

/**
 * Calls back what is not over in time. All have the same time, so they run out in the order they came: a line that
 * one leaves from anywhere in constant time, and one timer for its head, instead of a timer per request.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #ms: number;
  #first: Place | undefined;
  #last: Place | undefined;
  #waiting = false;

  /** @param ms milliseconds that each one has */
  constructor(clock: Clock, ms: number) {
    this.#clock = clock;
    this.#ms = ms;
  }

  /** Calls `expire` once when the time is over, unless the answer is called before. */
  start(expire: () => void): () => void {
    const place: Place = {
      at: this.#clock.elapsed() + this.#ms,
      expire,
      before: this.#last,
      behind: undefined,
      left: false,
    };
    if (this.#last === undefined) this.#first = place;
    else this.#last.behind = place;
    this.#last = place;
    if (!this.#waiting) this.#wait(this.#ms);
    return () => this.#leave(place);
  }

  #leave(place: Place): void {
    if (place.left) return;
    place.left = true;
    if (place.before === undefined) this.#first = place.behind;
    else place.before.behind = place.behind;
    if (place.behind === undefined) this.#last = place.before;
    else place.behind.before = place.before;
  }

  #wait(ms: number): void {
    this.#waiting = true;
    this.#clock.after(ms, () => {
      this.#waiting = false;
      this.#expireDue();
      if (this.#first !== undefined && !this.#waiting) this.#wait(Math.max(this.#first.at - this.#clock.elapsed(), 1));
    });
  }

  #expireDue(): void {
    for (let place = this.#first; place !== undefined && place.at <= this.#clock.elapsed(); place = this.#first) {
      this.#leave(place);
      place.expire();
    }
  }
}
