import type { CampaignRecipient, Campaign as CampaignView } from '../../../../client/index.js';
import { Button } from '../../components/button.js';
import { SelectField } from '../../components/field.js';
import { Empty, Failure } from '../../components/notes.js';
import { Section } from '../../components/page.js';
import { Status, Units } from '../../components/shown.js';
import { ListTable } from '../../components/table.js';
import { messaging } from '../../core/clients.js';
import { saveAs } from '../../core/download.js';
import { useAction } from '../../core/form.js';
import { number } from '../../core/format.js';
import { LIVE, useList } from '../../core/resource.js';
import { choiceOf, hrefOf, setQuery } from '../../core/router.js';
import { stateName, word } from '../../core/words.js';
import { stepName } from '../messages/message-texts.js';
import { shownNumber } from '../shared/number.js';
import { t } from './campaign-texts.js';

/** The states of a recipient, from the first to the last. */
export const STATES = Object.keys({
  pending: 0,
  queued: 0,
  sent: 0,
  delivered: 0,
  undelivered: 0,
  failed: 0,
  unknown: 0,
  canceled: 0,
  opted_out: 0,
} satisfies Readonly<Record<CampaignRecipient['status'], 0>>) as CampaignRecipient['status'][];

/** How long a download may take, in milliseconds. */
const FILE_MS = 1_800_000;

export function recipientState(status: string): string {
  const shared = stateName.of(status);
  return shared === status ? t.of(status) : shared;
}

/** The recipients of a campaign by status, with a file of them. */
export function CampaignRecipients({ of: { id, counts, recipients_count: count } }: { readonly of: CampaignView }) {
  const status = choiceOf('status', STATES);
  const list = useList(
    (options) => messaging().campaigns.recipients(id, { status }, options),
    [id, status, count],
    ({ number: to, smsID }) => `${to} ${smsID}`,
    LIVE,
  );
  const file = useAction(async () =>
    saveAs(await messaging().campaigns.recipientsCsv(id, { status }, { timeoutMs: FILE_MS }), `campaign-${id}.csv`),
  );
  return (
    <Section
      title={t('recipients')}
      actions={
        <div class="section-actions">
          <SelectField
            label={word('status')}
            value={status ?? ''}
            options={[
              ['', word('all')],
              ...STATES.map((each) => [each, `${recipientState(each)} (${number(counts[each])})`] as const),
            ]}
            onInput={(value) => setQuery({ status: value })}
          />
          <Button busy={file.busy} onClick={() => void file.run()}>
            {word('download')}
          </Button>
        </div>
      }
    >
      <Failure error={file.error} />
      <ListTable
        list={list}
        caption={t('recipients')}
        identity={({ number: to, smsID }) => `${to} ${smsID}`}
        filters={['status']}
        empty={<Empty title={t('noRecipients')} />}
        columns={[
          { title: word('number'), cell: ({ number: to }) => <bdi>{shownNumber(to)}</bdi> },
          { title: word('status'), cell: ({ status: own }) => <Status of={own} text={recipientState(own)} /> },
          { title: t('reason'), cell: ({ error }) => error && <bdi>{stepName.of(error)}</bdi> },
          { title: word('units'), right: true, cell: (each) => <Units of={each.units - each.refunded_units} /> },
          {
            title: t('message'),
            cell: ({ smsID }) =>
              smsID && (
                <a href={hrefOf(`messages/${encodeURIComponent(smsID)}`, { channel: 'sms' })}>{word('details')}</a>
              ),
          },
        ]}
      />
    </Section>
  );
}
