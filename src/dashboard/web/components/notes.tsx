import type { ComponentChildren } from 'preact';
import { sentenceOf } from '../core/errors.js';
import { word } from '../core/words.js';
import { Button } from './button.js';

/** An error message. Shows nothing if there is no error. */
export function Failure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: (() => void) | undefined }) {
  return (
    <div role="alert" class="alert-place">
      {error !== undefined && (
        <div class="note bad">
          <p dir="auto">{sentenceOf(error)}</p>
          {onRetry && <Button onClick={onRetry}>{word('retry')}</Button>}
        </div>
      )}
    </div>
  );
}

/** A note. */
export function Note({
  tone = 'calm',
  children,
}: {
  readonly tone?: 'calm' | 'good' | 'warn' | 'bad';
  readonly children: ComponentChildren;
}) {
  return <div class={`note ${tone}`}>{children}</div>;
}

/** A text in place of an empty list. It says what the list would show, and what to do first. */
export function Empty({
  title,
  children,
  action,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly action?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <p>{children}</p>}
      {action}
    </div>
  );
}

/** Grey lines in place of content that is being loaded. */
export function Loading({ lines = 4 }: { readonly lines?: number }) {
  return (
    <div class="loading" role="status">
      <span class="hidden-text">{word('loading')}</span>
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} class="bone" />
      ))}
    </div>
  );
}
