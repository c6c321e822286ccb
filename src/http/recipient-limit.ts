import { type FactoryProvider, Injectable, type InjectionToken } from '@nestjs/common';

/** The largest limit that a capability may set, and the limit if no capability sets one. */
export const MAX_RECIPIENTS = 1_000_000;

/**
 * How many entries a list in a body may have. This is checked before the route's capability sees the body, so it is the largest
 * limit of all mounted capabilities. Each capability then checks its own limit.
 */
@Injectable()
export class RecipientLimit {
  private allowed: number | undefined;

  get maxRecipients(): number {
    return this.allowed ?? MAX_RECIPIENTS;
  }

  /** Adds a capability's limit. Call it before the application has started. */
  allow(recipients: number): void {
    this.allowed = Math.max(this.allowed ?? 0, recipients);
  }
}

/** Makes a provider that registers a capability's limit. The capability lists it among its providers. */
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
