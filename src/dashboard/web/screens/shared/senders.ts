import { manage } from '../../core/clients.js';
import { useResource } from '../../core/resource.js';
import { can } from '../../core/session.js';

/** The senders to choose from, and whether they are loaded. */
export interface Senders {
  readonly names: readonly string[];
  readonly isLoaded: boolean;
  readonly error: unknown;
  reload(): void;
}

/** The senders that the account may use: those of the service, and its own verified ones. */
export function useSenders(): Senders {
  const mayRead = can('signatures.read');
  const { data, error, reload } = useResource(
    async (signal) => (mayRead ? (await manage().account.signatures({ limit: 500 }, { signal }).page()).items : []),
    [mayRead],
  );
  const usable = (data ?? []).filter(({ status, is_default }) => is_default || status === 'verified');
  const own = usable.filter(({ is_default }) => !is_default);
  const names = [...own, ...usable.filter(({ is_default }) => is_default)].map(({ name }) => name);
  return { names: [...new Set(names)], isLoaded: data !== undefined, error, reload: () => void reload() };
}
