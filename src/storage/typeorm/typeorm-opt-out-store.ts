import type { HostTransaction } from '../../common/host-transaction.js';
import type { Page } from '../../common/page.js';
import {
  type OptOut,
  type OptOutKey,
  type OptOutQuery,
  type OptOutSource,
  OptOutStore,
} from '../../sms/opt-out-store.js';
import type { Executor } from './executor.js';
import { addOptOuts, findOptOuts, listOptOuts, optOutSignatures, removeOptOuts } from './opt-out-operations.js';

/** The suppression list in SQL. */
export class TypeormOptOutStore extends OptOutStore {
  constructor(private readonly executor: Executor) {
    super();
  }

  override add(entries: readonly OptOut[]): Promise<readonly OptOut[]> {
    return this.executor.write(() => addOptOuts(this.executor.dialect, entries));
  }

  override remove(keys: readonly OptOutKey[], source?: OptOutSource): Promise<readonly OptOut[]> {
    return this.executor.write(() => removeOptOuts(this.executor.dialect, keys, source));
  }

  override signatures(accountId: string): Promise<readonly string[]> {
    return this.executor.read(() => optOutSignatures(accountId));
  }

  override among(keys: readonly OptOutKey[], host?: HostTransaction): Promise<readonly OptOutKey[]> {
    const find = () => findOptOuts(this.executor.dialect, keys);
    return this.executor.read(find, host);
  }

  override list(query: OptOutQuery): Promise<Page<OptOut>> {
    return this.executor.read(() => listOptOuts(this.executor.dialect, query));
  }
}
