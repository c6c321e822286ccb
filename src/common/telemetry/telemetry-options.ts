import { any, list, type Option, text } from '../options.js';

/** The maximum number of accounts whose units are counted separately. */
const MAX_ACCOUNTS = 32;

const account = text(/^[\s\S]{1,128}$/, 'the id of an account');

/** Reads `Telemetry.accounts`. */
export const ACCOUNTS_OPTION: Option<readonly string[]> = any((given, place) => {
  const accounts = list(account, 'ids of accounts').read(given ?? [], place);
  return accounts.length > MAX_ACCOUNTS ? place.refuse(`must name at most ${MAX_ACCOUNTS} accounts`) : accounts;
});
