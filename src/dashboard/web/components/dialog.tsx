import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { FormState } from '../core/form.js';
import { useAction } from '../core/form.js';
import { go, hrefOf } from '../core/router.js';
import { type Act, tell } from '../core/said.js';
import { word } from '../core/words.js';
import { Button } from './button.js';
import { Failure } from './notes.js';

interface DialogProps {
  readonly title: string;
  /** Called when the user closes the dialog, by its button or by Escape. */
  onClose(): void;
  readonly children: ComponentChildren;
  /** Makes the dialog wide enough for tables. */
  readonly wide?: boolean;
  /** Lets only the buttons in `children` close the dialog, because what it shows is never shown again. */
  readonly kept?: boolean;
}

/**
 * A modal dialog. It is open as long as it is rendered. Afterwards the focus returns to what had it before, or to the title of
 * the screen if that is gone, as the row of a removed entry is.
 */
export function Dialog({ title, onClose, children, wide, kept }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      // While the dialog is open, nothing outside it can take the focus.
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
      if (document.activeElement === document.body) document.getElementById('screen-title')?.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={wide ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        // A file chooser inside the dialog fires `cancel` too.
        if (event.target !== element.current) return;
        event.preventDefault();
        if (!kept) onClose();
      }}
      // A browser lets a page prevent only the first `cancel`. The second Escape closes the dialog, so it is opened again.
      onClose={() => kept && element.current?.showModal()}
    >
      <header>
        <h2 id={id}>{title}</h2>
        {!kept && (
          <Button kind="plain" label={word('dismiss')} onClick={onClose}>
            <span aria-hidden="true">×</span>
          </Button>
        )}
      </header>
      {children}
    </dialog>
  );
}

interface FormProps<V> {
  readonly form: FormState<V>;
  /** The text of the main button. */
  readonly submit: string;
  readonly children: ComponentChildren;
  readonly onCancel?: (() => void) | undefined;
  readonly danger?: boolean;
  /** While this is true, the main button does nothing. */
  readonly disabled?: boolean;
}

/** A form that shows its error above its buttons. After an error the form keeps the typed values. */
export function Form<V>({ form, submit, children, onCancel, danger, disabled }: FormProps<V>) {
  return (
    <form class="form" onSubmit={form.submit}>
      {children}
      <Failure error={form.error} />
      <div class="buttons">
        {onCancel && <Button onClick={onCancel}>{word('cancel')}</Button>}
        <Button type="submit" kind={danger ? 'danger' : 'main'} busy={form.busy} disabled={disabled}>
          {submit}
        </Button>
      </div>
    </form>
  );
}

interface ConfirmProps extends Pick<Act, 'undo' | 'change'> {
  readonly title: string;
  readonly children: ComponentChildren;
  /** The text of the button: a verb such as “Revoke”, not “OK”. */
  readonly verb: string;
  readonly danger?: boolean;
  /** While this is true, the button of the change does nothing. */
  readonly disabled?: boolean;
  /** What the status line says after the change. A screen that tells of the change by itself leaves it out. */
  readonly said?: string;
  /** The path of the screen to go to after the change, as after the removal of what this screen shows. */
  readonly next?: string;
  /** Called with true after the change, and with false if the user cancels. */
  onClose(done: boolean): void;
}

/**
 * Asks for confirmation of a change. If the change fails, the dialog shows the error and the user can try again. After the
 * change the status line of the screen tells of it.
 */
export function Confirm(props: ConfirmProps) {
  const { title, children, verb, danger = true, disabled, change, said, undo, next, onClose } = props;
  const { busy, error, run } = useAction(change);
  const confirmed = async (): Promise<void> => {
    if (!(await run())) return;
    onClose(true);
    const screen = next === undefined ? undefined : hrefOf(next);
    if (said !== undefined) tell({ said, undo, after: () => onClose(true) }, screen);
    if (next !== undefined) go(next);
  };
  return (
    <Dialog title={title} onClose={() => onClose(false)}>
      <div class="form">
        {children}
        <Failure error={error} />
        <div class="buttons">
          <Button onClick={() => onClose(false)}>{word('cancel')}</Button>
          <Button kind={danger ? 'danger' : 'main'} busy={busy} disabled={disabled} onClick={() => void confirmed()}>
            {verb}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
