import { effect, signal } from '@preact/signals';
import { keepChoice, readChoice } from './storage.js';

export type Theme = 'system' | 'light' | 'dark';

function themeOf(stored: string | undefined): Theme {
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

/** The colours: the system's, light or dark. */
export const theme = signal<Theme>(themeOf(readChoice('theme')));

effect(() => {
  const chosen = theme.value;
  if (chosen === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  keepChoice('theme', chosen === 'system' ? undefined : chosen);
});
