import type { LoginHook, LoginHookWithSecret } from '../../../../client/index.js';
import { Button, CopyButton } from '../../components/button.js';
import { Dialog } from '../../components/dialog.js';
import { Note } from '../../components/notes.js';
import { Status } from '../../components/shown.js';
import { kindName, t } from './hook-texts.js';

/** Returns the name of a hook, or that of its log-in system. */
export function hookName({ name, kind }: Pick<LoginHook, 'name' | 'kind'>): string {
  return name || kindName(kind);
}

export function channelName(channel: string): string {
  return channel === 'sms' ? t('sms') : channel;
}

export function HookStatus({ status }: Pick<LoginHook, 'status'>) {
  return <Status of={status} tone={status === 'enabled' ? 'good' : 'calm'} text={t(status)} />;
}

/** A value that people copy into their log-in system. */
export function ToCopy({ of, label }: { readonly of: string; readonly label: string }) {
  return (
    <div class="secret">
      <code dir="ltr">{of}</code>
      <CopyButton text={of} label={label} />
    </div>
  );
}

interface SecretDialogProps {
  readonly title: string;
  readonly of: LoginHookWithSecret;
  onClose(): void;
}

/** Shows the URL and the secret of a hook. The secret is never shown again. */
export function SecretDialog({ title, of, onClose }: SecretDialogProps) {
  return (
    <Dialog title={title} kept onClose={onClose}>
      <div class="form">
        <Note tone="warn">{t('once')}</Note>
        <div>
          <h3>{t('url')}</h3>
          <ToCopy of={of.url} label={t('url')} />
        </div>
        <div>
          <h3>{t('secret')}</h3>
          <ToCopy of={of.secret} label={t('secret')} />
        </div>
        <p class="hint">{t.of(`use_${of.kind}`)}</p>
        <div class="buttons">
          <Button kind="main" onClick={onClose}>
            {t('kept')}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
