import { SystemClock } from '../../../src/common/clock.js';

/** The clock of a machine that is set wrong. */
export class WrongClock extends SystemClock {
  /** @param ms how far it is ahead; below 0, behind */
  constructor(private readonly ms: number) {
    super();
  }

  override now(): number {
    return super.now() + this.ms;
  }
}

/** The arguments with which Node runs on a machine whose clock is so far ahead: all of its code sees that. */
export function nodeAhead(ms: number): string[] {
  const program = `
    const Right = Date;
    globalThis.Date = class Date extends Right {
      constructor(...given) {
        super(...(given.length > 0 ? given : [Date.now()]));
      }
      static now() {
        return Right.now() + ${ms};
      }
    };`;
  return ['--import', `data:text/javascript,${encodeURIComponent(program)}`];
}
