import type { Catalogue } from '../common/catalogue.js';

/** What is said to those who still send their key in `Authorization: Bearer`. Times in milliseconds since the epoch. */
export interface LegacyBearerSettings {
  readonly deprecatedAt: number;
  readonly sunset: number | undefined;
  /** An absolute URL. */
  readonly link: string | undefined;
}

/** The accounts' part of the resolved options; see `AccountOptions` for their meaning. */
export abstract class AccountSettings {
  abstract readonly signatures: readonly [string, string, string];
  abstract readonly legacyBearer: false | LegacyBearerSettings;
  /** For the refusals on the host's own routes, where no filter of ours stands. */
  abstract readonly catalogue: Catalogue;
}
