import type { Webhook, WebhookWithSecret } from '../../../../client/index.js';
import { Button, CopyButton } from '../../components/button.js';
import { Dialog } from '../../components/dialog.js';
import { Note } from '../../components/notes.js';
import { Ago, Status } from '../../components/shown.js';
import { hrefOf } from '../../core/router.js';
import { t } from './webhook-texts.js';

/** The tabs of the screen. */
export function Tabs({ current }: { readonly current: 'endpoints' | 'live' }) {
  return (
    <ul class="tabs">
      <li>
        <a href={hrefOf('webhooks')} aria-current={current === 'endpoints' ? 'page' : undefined}>
          {t('endpoints')}
        </a>
      </li>
      <li>
        <a href={hrefOf('webhooks/live')} aria-current={current === 'live' ? 'page' : undefined}>
          {t('live')}
        </a>
      </li>
    </ul>
  );
}

/** Shows whether an endpoint is enabled, and if not, why. */
export function EndpointStatus({ of: { status, reason, failing_since } }: { readonly of: Webhook }) {
  if (status === 'disabled') {
    return (
      <span>
        <Status of={status} tone={reason === 'requested' ? 'calm' : 'bad'} text={t('disabled')} />{' '}
        {reason !== null && <span class="soft">{t.of(reason)}</span>}
      </span>
    );
  }
  return (
    <span>
      <Status of={status} tone={failing_since === null ? 'good' : 'warn'} text={t('enabled')} />{' '}
      {failing_since !== null && (
        <span class="soft">
          {t('failing')} <Ago at={failing_since} />
        </span>
      )}
    </span>
  );
}

interface SecretDialogProps {
  readonly title: string;
  readonly of: WebhookWithSecret;
  onClose(): void;
}

/** Shows a secret. It is never shown again. */
export function SecretDialog({ title, of, onClose }: SecretDialogProps) {
  const secret = of.secret ?? of.public_key;
  return (
    <Dialog title={title} kept={secret !== undefined} onClose={onClose}>
      <div class="form">
        {secret === undefined ? (
          <Note tone="warn">{t('onceBefore')}</Note>
        ) : (
          <>
            <Note tone="warn">{t('once')}</Note>
            <div class="secret">
              <code>{secret}</code>
              <CopyButton text={secret} label={t('secret')} />
            </div>
            <p class="hint">{t('secretUse')}</p>
          </>
        )}
        <div class="buttons">
          <Button kind="main" onClick={onClose}>
            {t('kept')}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** A body as indented JSON. A body that is not JSON is shown unchanged. */
export function Body({ of }: { readonly of: unknown }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: people must be able to reach a scrolling part with the keyboard
    <pre class="body" dir="auto" tabIndex={0}>
      {typeof of === 'string' ? indented(of) : JSON.stringify(of, undefined, 2)}
    </pre>
  );
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

/** The types of events that an endpoint receives. */
export function TypesOf({ of }: { readonly of: readonly string[] }) {
  if (of.includes('*')) return <>{t('allTypes')}</>;
  return (
    <span title={of.join(', ')}>{of.length === 1 ? <code>{of[0]}</code> : t('chosenTypes', { n: of.length })}</span>
  );
}
