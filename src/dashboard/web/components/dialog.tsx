import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { FormState } from '../core/form.js';
import { useAction } from '../core/form.js';
import { word } from '../core/words.js';
import { Button } from './button.js';
import { Failure } from './notes.js';

interface DialogProps {
  readonly title: string;
  /** When the user closes it: the button, Escape. */
  onClose(): void;
  readonly children: ComponentChildren;
  /** A broad one, for tables. */
  readonly wide?: boolean;
}

/** A modal dialog; shown while it is in the tree. The browser keeps the focus in it and gives it back. */
export function Dialog({ title, onClose, children, wide }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={wide ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        // A file chooser inside says `cancel` too.
        if (event.target !== element.current) return;
        event.preventDefault();
        onClose();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <Button kind="plain" label={word('close')} onClick={onClose}>
          <span aria-hidden="true">×</span>
        </Button>
      </header>
      {children}
    </dialog>
  );
}

interface FormProps<V> {
  readonly form: FormState<V>;
  /** What the main button says. */
  readonly submit: string;
  readonly children: ComponentChildren;
  readonly onCancel?: (() => void) | undefined;
  readonly danger?: boolean;
}

/** A form with its error above its buttons. What was typed stays after an error. */
export function Form<V>({ form, submit, children, onCancel, danger }: FormProps<V>) {
  return (
    <form class="form" onSubmit={form.submit}>
      {children}
      <Failure error={form.error} />
      <div class="buttons">
        {onCancel && <Button onClick={onCancel}>{word('cancel')}</Button>}
        <Button type="submit" kind={danger ? 'danger' : 'main'} busy={form.busy}>
          {submit}
        </Button>
      </div>
    </form>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** What the button says: the verb, not “OK”. */
  readonly verb: string;
  readonly danger?: boolean;
  /** The change; with its Idempotency-Key. */
  change(key: string): Promise<unknown>;
  /** After the change, and when the user thinks better of it. */
  onClose(done: boolean): void;
}

/** Asks before a change. An error is told in the dialog, where the change can be tried again. */
export function Confirm({ title, children, verb, danger = true, change, onClose }: ConfirmProps) {
  const { busy, error, run } = useAction(change);
  return (
    <Dialog title={title} onClose={() => onClose(false)}>
      <div class="form">
        {children}
        <Failure error={error} />
        <div class="buttons">
          <Button onClick={() => onClose(false)}>{word('cancel')}</Button>
          <Button
            kind={danger ? 'danger' : 'main'}
            busy={busy}
            onClick={() => void run().then((done) => done && onClose(true))}
          >
            {verb}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
