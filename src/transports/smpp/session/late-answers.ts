import type { SubmitAnswer } from './submit-outcome.js';

type Settle = (answer: SubmitAnswer | undefined) => void;

/** Submits that were given up on and may be answered after all: the last so many of them. */
export class LateAnswers {
  private readonly expected = new Map<number, Settle>();

  /** @param most how many are kept at a time; the oldest goes first */
  constructor(private readonly most: number) {}

  has(sequence: number): boolean {
    return this.expected.has(sequence);
  }

  expect(sequence: number): Promise<SubmitAnswer | undefined> {
    return new Promise((settle) => {
      this.expected.set(sequence, settle);
      const [oldest] = this.expected.keys();
      if (this.expected.size > this.most && oldest !== undefined) this.settle(oldest, undefined);
    });
  }

  /** @returns false when nobody waits for it */
  settle(sequence: number, answer: SubmitAnswer | undefined): boolean {
    const settle = this.expected.get(sequence);
    if (settle === undefined) return false;
    this.expected.delete(sequence);
    settle(answer);
    return true;
  }

  /** None will come any more. */
  end(): void {
    for (const settle of this.expected.values()) settle(undefined);
    this.expected.clear();
  }
}
