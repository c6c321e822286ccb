import { SystemClock } from '../../../src/common/clock.js';

/** The clock of a machine that is set wrong. */
export class WrongClock extends SystemClock {
  /** @param ms how far it is ahead; negative: behind */
  constructor(private readonly ms: number) {
    super();
  }

  override now(): number {
    return super.now() + this.ms;
  }
}

/** The arguments that make Node run as on a machine whose clock is this far ahead. All of its code sees that. */
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
