import { StorageUnavailableError } from '../../common/errors.js';
import type { HostTransaction } from '../../common/host-transaction.js';

/** Refuses a host's transaction: nothing in memory could be rolled back with it. */
export function refuseHost(host: HostTransaction | undefined): void {
  if (host) throw new StorageUnavailableError('The memory storage cannot join a transaction of the host.');
}
