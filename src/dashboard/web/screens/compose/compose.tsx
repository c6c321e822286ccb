import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { SignatureView } from '../../api-types.js';
import { Button } from '../../components/button.js';
import { SelectField, TextField } from '../../components/field.js';
import { Failure, Note } from '../../components/notes.js';
import { Screen } from '../../components/page.js';
import { api, type Page } from '../../core/api.js';
import { country } from '../../core/format.js';
import { useResource } from '../../core/resource.js';
import { hrefOf } from '../../core/router.js';
import { can, me } from '../../core/session.js';
import { callingCodeOf, cleanNumber, listOf, shownNumber } from '../shared/number.js';
import { Segments, TextSize } from '../shared/segments.js';
import { t } from './compose-texts.js';
import { change, draft, recipients } from './draft.js';
import { Price } from './price.js';
import { useQuote } from './quote.js';
import { MOST, RecipientsField } from './recipients-field.js';
import { SendApp, SendSms } from './send.js';
import './compose.css';

/** Writes a message, shows what it costs while it is typed, and sends it after a preview. */
export function Compose() {
  const { sms = false, msgapp = [] } = me.value?.capabilities ?? {};
  const channels = [...(sms ? ['sms'] : []), ...msgapp];
  const channel = channels.includes(draft.value.channel) ? draft.value.channel : (channels[0] ?? 'sms');
  const sent = useSignal<Sent | undefined>(undefined);
  const choice = channels.length > 1 && (
    <SelectField
      label={t('channel')}
      value={channel}
      options={channels.map((each) => [each, each === 'sms' ? t('sms') : each])}
      onInput={(value) => change({ channel: value })}
    />
  );
  return (
    <Screen title={t('title')} lead={t('lead')}>
      {sent.value && (
        <div role="status">
          <Note tone="good">
            <span>{sent.value.text}</span>
            <a class="button" href={hrefOf(`messages/${encodeURIComponent(sent.value.id)}`, sent.value.query)}>
              {t('show')}
            </a>
          </Note>
        </div>
      )}
      {channel === 'sms' ? (
        <SmsForm choice={choice} onSent={(done) => (sent.value = done)} />
      ) : (
        <AppForm key={channel} channel={channel} choice={choice} onSent={(done) => (sent.value = done)} />
      )}
    </Screen>
  );
}

/** What was sent, for the note above the form. */
export interface Sent {
  readonly id: string;
  readonly text: string;
  readonly query?: Readonly<Record<string, string>>;
}

interface FormProps {
  readonly choice: ComponentChildren;
  onSent(sent: Sent): void;
}

function SmsForm({ choice, onSent }: FormProps) {
  const senders = useSenders();
  const { text, signature } = draft.value;
  const { numbers } = recipients.value;
  const { price, error } = useQuote(text, numbers);
  const preview = useSignal(false);
  const sender = senders.names.includes(signature) ? signature : (senders.names[0] ?? '');
  const missing = [
    ...(sender === '' ? [t('needsSender')] : []),
    ...(text.trim() === '' ? [t('needsText')] : []),
    ...(numbers.length === 0 ? [t('needsNumber')] : []),
  ];
  const isReady = missing.length === 0 && numbers.length <= MOST && !hasBadMetadata();
  return (
    <div class="compose">
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) preview.value = true;
        }}
      >
        <div class="pair">
          {choice}
          {senders.error !== undefined ? (
            <Failure error={senders.error} onRetry={senders.reload} />
          ) : senders.isLoaded && senders.names.length === 0 ? (
            <Note tone="warn">
              <span>{t('noSender')}</span>
              <a href={hrefOf('signatures')}>{t('signatures')}</a>
            </Note>
          ) : (
            <SelectField
              label={t('from')}
              value={sender}
              hint={t('fromHint')}
              options={senders.names.map((name) => [name, name])}
              onInput={(value) => change({ signature: value })}
            />
          )}
        </div>
        <TextField
          label={t('text')}
          required
          rows={5}
          placeholder={t('example')}
          value={text}
          onInput={(value) => change({ text: value })}
        />
        {text !== '' && (
          <div>
            <p class="hint" aria-live="polite">
              <TextSize of={text} />
            </p>
            <Segments of={text} />
          </div>
        )}
        <RecipientsField />
        <More />
        <div class="buttons">
          <Missing what={missing} />
          <Button type="submit" kind="main" disabled={!isReady}>
            {t('preview')}
          </Button>
        </div>
      </form>
      <div class="card compose-side" aria-live="polite">
        <h2>{t('price')}</h2>
        <Price of={price} error={error} />
      </div>
      {preview.value && (
        <SendSms
          signature={sender}
          onClose={() => {
            preview.value = false;
          }}
          onSent={onSent}
        />
      )}
    </div>
  );
}

/** What is seldom needed: the priority, and what is given back with the message. */
function More() {
  const { priority, metadata } = draft.value;
  return (
    <details open={priority !== 'normal' || metadata !== ''}>
      <summary>{t('more')}</summary>
      <div class="form">
        <SelectField
          label={t('priority')}
          value={priority}
          options={[
            ['high', t('high')],
            ['normal', t('normal')],
            ['bulk', t('bulk')],
          ]}
          onInput={(value) => change({ priority: value })}
        />
        <TextField
          label={t('metadata')}
          rows={3}
          hint={hasBadMetadata() ? <span class="bad-text">{t('metadataBad')}</span> : t('metadataHint')}
          value={metadata}
          onInput={(value) => change({ metadata: value })}
        />
      </div>
    </details>
  );
}

function hasBadMetadata(): boolean {
  return draft.value.metadata.split('\n').some((line) => line.trim() !== '' && !/^[^=]+=/.test(line));
}

function Missing({ what }: { readonly what: readonly string[] }) {
  return what.length === 0 ? null : <span class="missing">{t('missing', { what: listOf(what) })}</span>;
}

/** The senders that may be used: those of the service, and the verified ones of the account. */
function useSenders() {
  const mayRead = can('signatures.read');
  const { data, error, reload } = useResource<Page<SignatureView>>(
    (signal) =>
      mayRead ? api.get('signatures', { limit: 500 }, signal) : Promise.resolve({ items: [], next_cursor: null }),
    [mayRead],
  );
  const usable = (data?.items ?? []).filter(({ status, is_default }) => is_default || status === 'verified');
  const own = usable.filter(({ is_default }) => !is_default);
  const names = [...own, ...usable.filter(({ is_default }) => is_default)].map(({ name }) => name);
  return { names: [...new Set(names)], isLoaded: data !== undefined, error, reload: () => void reload() };
}

interface Sessions {
  readonly sessions: readonly { readonly sessionID: string; readonly status: string; readonly number: string | null }[];
}

function AppForm({ channel, choice, onSent }: FormProps & { readonly channel: string }) {
  const { to, from, text, withFile, mediaUrl, mediaType } = draft.value;
  const preview = useSignal(false);
  const { data, error, reload } = useResource<Sessions>(
    (signal) => api.get(`${encodeURIComponent(channel)}/web/status`, {}, signal),
    [channel],
  );
  const linked = (data?.sessions ?? []).flatMap(({ status, number }) =>
    status === 'connected' && number !== null ? [number] : [],
  );
  const number = cleanNumber(to);
  const { region } = callingCodeOf(number ?? '');
  const missing = [
    ...(data !== undefined && linked.length === 0 ? [t('needsLinked')] : []),
    ...(number === undefined ? [t('needsTo')] : []),
    ...(withFile && !isFileUrl(mediaUrl) ? [t('needsFile')] : []),
    ...(!withFile && text.trim() === '' ? [t('needsText')] : []),
  ];
  const isReady = data !== undefined && missing.length === 0 && !hasBadMetadata();
  return (
    <form
      class="form compose-app"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) preview.value = true;
      }}
    >
      <div class="pair">
        {choice}
        {error !== undefined ? (
          <Failure error={error} onRetry={() => void reload()} />
        ) : data !== undefined && linked.length === 0 ? (
          <Note tone="warn">
            <span>{t('noLinked')}</span>
            <a href={hrefOf('numbers')}>{t('numbersScreen')}</a>
          </Note>
        ) : (
          <SelectField
            label={t('linked')}
            value={from}
            options={[['', t('anyLinked')], ...linked.map((each) => [each, shownNumber(each)] as const)]}
            onInput={(value) => change({ from: value })}
          />
        )}
      </div>
      <div class="pair">
        <TextField
          label={t('to')}
          required
          type="tel"
          value={to}
          hint={
            to.trim() !== '' && number === undefined ? (
              <span class="bad-text">{t('badTo')}</span>
            ) : region === undefined ? (
              t('toHint')
            ) : (
              country(region)
            )
          }
          onInput={(value) => change({ to: value })}
        />
        <SelectField
          label={t('what')}
          value={withFile ? 'file' : 'text'}
          options={[
            ['text', t('justText')],
            ['file', t('aFile')],
          ]}
          onInput={(value) => change({ withFile: value === 'file' })}
        />
      </div>
      {withFile && (
        <div class="pair file">
          <TextField
            label={t('mediaUrl')}
            required
            type="url"
            autocomplete="off"
            placeholder="https://…"
            value={mediaUrl}
            hint={
              mediaUrl.trim() !== '' && !isFileUrl(mediaUrl) ? (
                <span class="bad-text">{t('mediaUrlBad')}</span>
              ) : (
                t('mediaUrlHint')
              )
            }
            onInput={(value) => change({ mediaUrl: value })}
          />
          <SelectField
            label={t('mediaType')}
            value={mediaType}
            options={[['', t('anyKind')], ...MEDIA.map((each) => [each, t(each)] as const)]}
            onInput={(value) => change({ mediaType: value })}
          />
        </div>
      )}
      <TextField
        label={t(withFile ? 'caption' : 'text')}
        required={!withFile}
        rows={withFile ? 3 : 6}
        placeholder={t('example')}
        value={text}
        onInput={(value) => change({ text: value })}
      />
      <More />
      <div class="buttons">
        <Missing what={missing} />
        <Button type="submit" kind="main" disabled={!isReady}>
          {t('preview')}
        </Button>
      </div>
      {preview.value && number !== undefined && (
        <SendApp
          channel={channel}
          to={number}
          from={linked.includes(from) ? from : undefined}
          onClose={() => {
            preview.value = false;
          }}
          onSent={onSent}
        />
      )}
    </form>
  );
}

/** What a file may be sent as. */
const MEDIA = ['image', 'video', 'document', 'audio'] as const;

/** As the service takes it; whether the address is a public one only the service knows. */
function isFileUrl(text: string): boolean {
  if (!URL.canParse(text.trim())) return false;
  const url = new URL(text.trim());
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}
