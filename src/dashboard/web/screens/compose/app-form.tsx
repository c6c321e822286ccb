import { useSignal } from '@preact/signals';
import type { MediaType } from '../../../../client/index.js';
import { isInvisible } from '../../../../common/text/visible-text.js';
import { SelectField, TextField } from '../../components/field.js';
import { messaging } from '../../core/clients.js';
import { country } from '../../core/format.js';
import { useResource } from '../../core/resource.js';
import { hrefOf } from '../../core/router.js';
import { callingCodeOf, cleanNumber, shownNumber } from '../shared/number.js';
import { missingWhen } from '../shared/when.js';
import { t } from './compose-texts.js';
import { change, draft } from './draft.js';
import { ComposeForm, type FormProps, FromField, hasBadMetadata } from './form-parts.js';
import { SendApp } from './send.js';

/** A text or a file by a messaging app. */
export function AppForm({ channel, choice, onSent }: FormProps & { readonly channel: string }) {
  const { to, from, text, withFile, mediaUrl, mediaType } = draft.value;
  const preview = useSignal(false);
  const { data, error, reload } = useResource((signal) => messaging().msgapp(channel).sessions({ signal }), [channel]);
  const isLoaded = data !== undefined;
  const linked = (data?.sessions ?? []).flatMap(({ status, number }) =>
    status === 'connected' && number !== null ? [number] : [],
  );
  const number = cleanNumber(to);
  const { region } = callingCodeOf(number ?? '');
  const missing = [
    ...(isLoaded && linked.length === 0 ? [t('needsLinked')] : []),
    ...(number === undefined ? [t('needsTo')] : []),
    ...(withFile && !isFileUrl(mediaUrl) ? [t('needsFile')] : []),
    ...(!withFile && isInvisible(text) ? [t('needsText')] : []),
    ...missingWhen(draft.value.when),
  ];
  const isReady = isLoaded && missing.length === 0 && !hasBadMetadata();
  return (
    <>
      <ComposeForm class="form compose-app" missing={missing} isReady={isReady} preview={preview}>
        <div class="pair">
          {choice}
          <FromField
            loaded={{ names: linked, isLoaded, error, reload: () => void reload() }}
            none={
              <>
                <span>{t('noLinked')}</span>
                <a href={hrefOf('numbers')}>{t('numbersScreen')}</a>
              </>
            }
          >
            <SelectField
              label={t('linked')}
              value={from}
              options={[['', t('anyLinked')], ...linked.map((each) => [each, shownNumber(each)] as const)]}
              onInput={(value) => change({ from: value })}
            />
          </FromField>
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
      </ComposeForm>
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
    </>
  );
}

/** The kinds that a file may be sent as. */
const MEDIA = ['image', 'video', 'document', 'audio', 'voice'] as const satisfies readonly MediaType[];

/** Whether the service accepts an address of this form. Only the service can know whether the address is public. */
function isFileUrl(text: string): boolean {
  if (!URL.canParse(text.trim())) return false;
  const url = new URL(text.trim());
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}
