import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { MessagingApiError } from '../../../client/index.js';
import { Failure, Loading } from '../components/notes.js';
import type { ScreenEntry } from '../core/screens.js';

type ScreenComponent = ComponentType<{ readonly rest: string }>;

/** The screens that were opened before. They appear at once. */
const loaded = new Map<string, ScreenComponent>();

/** Loads the file of a screen and shows it. */
export function Outlet({ screen, rest }: { readonly screen: ScreenEntry; readonly rest: string }) {
  const component = useSignal<ScreenComponent | undefined>(loaded.get(screen.path));
  const error = useSignal<unknown>(undefined);
  const load = (): void => {
    error.value = undefined;
    screen.load().then(
      (made) => {
        loaded.set(screen.path, made);
        component.value = made;
      },
      (reason: unknown) => {
        error.value = new MessagingApiError(0, 'network_error', String(reason));
      },
    );
  };
  useEffect(() => {
    if (!component.peek()) load();
  }, []);
  const Shown = component.value;
  if (Shown) return <Shown rest={rest} />;
  return error.value === undefined ? <Loading lines={8} /> : <Failure error={error.value} onRetry={load} />;
}
