import { useSignal } from '@preact/signals';
import { PersonalText } from '../../../../common/text/personal-text.js';
import { isInvisible } from '../../../../common/text/visible-text.js';
import { SelectField, TextField } from '../../components/field.js';
import { Note } from '../../components/notes.js';
import { Screen } from '../../components/page.js';
import { hrefOf } from '../../core/router.js';
import { me } from '../../core/session.js';
import { listOf } from '../shared/list-of.js';
import { Segments, TextSize } from '../shared/segments.js';
import { useSenders } from '../shared/senders.js';
import { missingWhen } from '../shared/when.js';
import { AppForm } from './app-form.js';
import { t } from './compose-texts.js';
import { change, draft, recipients } from './draft.js';
import { ComposeForm, type FormProps, FromField, hasBadMetadata, type Sent } from './form-parts.js';
import { personalText, table, tableNumbers, tableRecipients, unknownNames } from './personal.js';
import { Price } from './price.js';
import { type Priced, useQuote } from './quote.js';
import { MAX_RECIPIENTS, RecipientsField } from './recipients-field.js';
import { SendSms } from './send.js';
import { TableField } from './table-field.js';
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
  const { text, signature, isPersonal } = draft.value;
  const of: Priced = isPersonal
    ? { text, numbers: tableNumbers.value, to: tableRecipients.value.to }
    : { text, numbers: recipients.value.numbers };
  const { numbers } = of;
  const badText = isPersonal ? badPersonalText() : undefined;
  const { price, error } = useQuote(badText === undefined ? of : { text, numbers: NONE });
  const preview = useSignal(false);
  const sender = senders.names.includes(signature) ? signature : (senders.names[0] ?? '');
  const missing = [
    ...(sender === '' ? [t('needsSender')] : []),
    ...(isInvisible(text) ? [t('needsText')] : []),
    ...(numbers.length === 0 ? [t(isPersonal ? 'needsTable' : 'needsNumber')] : []),
    ...missingWhen(draft.value.when),
  ];
  const isReady =
    badText === undefined && missing.length === 0 && numbers.length <= MAX_RECIPIENTS && !hasBadMetadata();
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
        <SelectField
          label={t('texts')}
          value={isPersonal ? 'own' : 'same'}
          options={[
            ['same', t('same')],
            ['own', t('own')],
          ]}
          onInput={(value) => change({ isPersonal: value === 'own' })}
        />
        <TextField
          label={t('text')}
          required
          rows={5}
          placeholder={isPersonal ? t('ownExample', EXAMPLE) : t('example')}
          hint={
            badText === undefined ? (
              isPersonal ? (
                t('ownHint', EXAMPLE)
              ) : undefined
            ) : (
              <span class="bad-text">{badText}</span>
            )
          }
          value={text}
          onInput={(value) => change({ text: value })}
        />
        {text !== '' && !isPersonal && (
          <div>
            <p class="hint" aria-live="polite">
              <TextSize of={text} />
            </p>
            <Segments of={text} />
          </div>
        )}
        {isPersonal ? <TableField price={price} /> : <RecipientsField />}
      </ComposeForm>
      <div class="card compose-side" aria-live="polite">
        <h2>{t('price')}</h2>
        <Price of={price} error={error} />
      </div>
      {preview.value && (
        <SendSms
          signature={sender}
          of={of}
          onClose={() => {
            preview.value = false;
          }}
          onSent={onSent}
        />
      )}
    </div>
  );
}

const NONE: readonly string[] = [];
const EXAMPLE = { example: '{name}' };

/** Why the text cannot be completed for each recipient, in words; undefined if it can. */
function badPersonalText(): string | undefined {
  const text = personalText.value;
  if (!(text instanceof PersonalText)) return t('stray', { n: text.position });
  if (table.value.rows.length === 0 || unknownNames.value.length === 0) return undefined;
  return t('unknown', { what: listOf(unknownNames.value.map((name) => `{${name}}`)) });
}
