import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { word } from '../core/words.js';

interface ButtonProps {
  readonly children: ComponentChildren;
  /** Default a quiet one; one main button a screen. */
  readonly kind?: 'main' | 'quiet' | 'danger' | 'plain' | undefined;
  /** Default `button`. */
  readonly type?: 'button' | 'submit' | undefined;
  /** While true the button does nothing and says so. */
  readonly busy?: boolean | undefined;
  readonly disabled?: boolean | undefined;
  /** The name, where what is shown is no text. */
  readonly label?: string | undefined;
  /** For a button that shows and hides a part of the page: whether it is shown. */
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

/** Copies a text. Without the clipboard (plain HTTP) the text is only selected. */
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
