import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { word } from '../core/words.js';

interface ButtonProps {
  readonly children: ComponentChildren;
  /** Default: a quiet button. A screen has one main button. */
  readonly kind?: 'main' | 'quiet' | 'danger' | 'plain' | undefined;
  /** Default: `button`. */
  readonly type?: 'button' | 'submit' | undefined;
  /** While this is true, the button does nothing and shows that it is busy. */
  readonly busy?: boolean | undefined;
  readonly disabled?: boolean | undefined;
  /** The accessible name, if the button shows no text or not enough of it. */
  readonly label?: string | undefined;
  /** For a button that shows and hides a part of the page: whether that part is shown. */
  readonly expanded?: boolean | undefined;
  readonly onClick?: (() => void) | undefined;
}

export function Button({
  children,
  kind = 'quiet',
  type = 'button',
  busy,
  disabled,
  label,
  expanded,
  onClick,
}: ButtonProps) {
  return (
    <button
      type={type}
      class={`button ${kind}`}
      aria-label={label}
      aria-expanded={expanded}
      aria-busy={busy ? 'true' : undefined}
      aria-disabled={busy ? 'true' : undefined}
      disabled={disabled}
      onClick={busy ? undefined : onClick}
    >
      {children}
    </button>
  );
}

/** Copies a text. On plain HTTP there is no clipboard, so the text is only selected. */
export function CopyButton({ text, label }: { readonly text: string; readonly label?: string }) {
  const copied = useSignal(false);
  const copy = async (): Promise<void> => {
    copied.value = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    setTimeout(() => {
      copied.value = false;
    }, 2000);
  };
  return (
    <Button label={label && `${word('copy')}: ${label}`} onClick={() => void copy()}>
      <span aria-live="polite">{copied.value ? word('copied') : word('copy')}</span>
    </Button>
  );
}
