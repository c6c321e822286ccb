import type { Clock } from '../../common/clock.js';
import type { Verdict } from './judgement.js';

/** A token, or why there is none. */
export type TokenOutcome = { readonly token: string; readonly seconds: number } | { readonly refused: Verdict };

/** A token is not used any more this long before its end: it has to last until the request has arrived. */
const MARGIN_MS = 60_000;

/** Keeps a bearer token until it runs out; all who need a new one at the same time share one request. */
export class TokenSource {
  private kept: { readonly token: string; readonly until: number } | undefined;
  private fetching: Promise<TokenOutcome> | undefined;

  constructor(
    private readonly fetch: () => Promise<TokenOutcome>,
    private readonly clock: Clock,
  ) {}

  get(): Promise<TokenOutcome> {
    const { kept } = this;
    if (kept && this.clock.elapsed() < kept.until) return Promise.resolve({ token: kept.token, seconds: 0 });
    this.fetching ??= this.renew().finally(() => {
      this.fetching = undefined;
    });
    return this.fetching;
  }

  /** The vendor does not take this one any more. A newer one stays. */
  forget(token: string): void {
    if (this.kept?.token === token) this.kept = undefined;
  }

  private async renew(): Promise<TokenOutcome> {
    const outcome = await this.fetch();
    if ('token' in outcome) {
      const { token, seconds } = outcome;
      // A short-lived one still serves those who wait for it now.
      this.kept = { token, until: this.clock.elapsed() + seconds * 1000 - MARGIN_MS };
    }
    return outcome;
  }
}
