import { useSignal } from '@preact/signals';
import { isInvisible } from '../../../../common/text/visible-text.js';
import { SelectField, TextField } from '../../components/field.js';
import { Note } from '../../components/notes.js';
import { Screen } from '../../components/page.js';
import { hrefOf } from '../../core/router.js';
import { me } from '../../core/session.js';
import { Segments, TextSize } from '../shared/segments.js';
import { useSenders } from '../shared/senders.js';
import { missingWhen } from '../shared/when.js';
import { AppForm } from './app-form.js';
import { t } from './compose-texts.js';
import { change, draft, recipients } from './draft.js';
import { ComposeForm, type FormProps, FromField, hasBadMetadata, type Sent } from './form-parts.js';
import { Price } from './price.js';
import { useQuote } from './quote.js';
import { MAX_RECIPIENTS, RecipientsField } from './recipients-field.js';
import { SendSms } from './send.js';
import './compose.css';

/** The screen for writing a message. It shows the price while the user types, and sends the message after a preview. */
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

function SmsForm({ choice, onSent }: FormProps) {
  const senders = useSenders();
  const { text, signature } = draft.value;
  const { numbers } = recipients.value;
  const { price, error } = useQuote(text, numbers);
  const preview = useSignal(false);
  const sender = senders.names.includes(signature) ? signature : (senders.names[0] ?? '');
  const missing = [
    ...(sender === '' ? [t('needsSender')] : []),
    ...(isInvisible(text) ? [t('needsText')] : []),
    ...(numbers.length === 0 ? [t('needsNumber')] : []),
    ...missingWhen(draft.value.when),
  ];
  const isReady = missing.length === 0 && numbers.length <= MAX_RECIPIENTS && !hasBadMetadata();
  return (
    <div class="compose">
      <ComposeForm class="form" missing={missing} isReady={isReady} preview={preview}>
        <div class="pair">
          {choice}
          <FromField
            loaded={senders}
            none={
              <>
                <span>{t('noSender')}</span>
                <a href={hrefOf('signatures')}>{t('signatures')}</a>
              </>
            }
          >
            <SelectField
              label={t('from')}
              value={sender}
              hint={t('fromHint')}
              options={senders.names.map((name) => [name, name])}
              onInput={(value) => change({ signature: value })}
            />
          </FromField>
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
      </ComposeForm>
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
