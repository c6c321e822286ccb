import { type FactoryProvider, Injectable, type InjectionToken } from '@nestjs/common';

/** The largest number that a capability may allow, and the limit where none sets one. */
export const MAX_RECIPIENTS = 1_000_000;

/**
 * The most entries that a list in a body may have. It is read before the route's capability sees the body, so it is the
 * largest limit of all mounted capabilities; each checks its own once more.
 */
@Injectable()
export class RecipientLimit {
  private allowed: number | undefined;

  get maxRecipients(): number {
    return this.allowed ?? MAX_RECIPIENTS;
  }

  /** Adds a capability's limit; to be called before the application has started. */
  allow(recipients: number): void {
    this.allowed = Math.max(this.allowed ?? 0, recipients);
  }
}

/** Registers a capability's limit; it lists the result among its providers. */
export function provideRecipientLimit<S>(
  settings: InjectionToken<S>,
  limitOf: (settings: S) => number,
): FactoryProvider<void> {
  return {
    provide: Symbol('recipient limit'),
    useFactory: (limit: RecipientLimit, of: S) => limit.allow(limitOf(of)),
    inject: [RecipientLimit, settings],
  };
}
