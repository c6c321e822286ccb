import type { CampaignQuote } from '../../../../client/index.js';
import { Failure, Loading } from '../../components/notes.js';
import { Section } from '../../components/page.js';
import { Table } from '../../components/table.js';
import { messaging } from '../../core/clients.js';
import { country, number } from '../../core/format.js';
import { type Resource, useResource } from '../../core/resource.js';
import { word } from '../../core/words.js';
import { t } from './campaign-texts.js';

/** How long a price may take, in milliseconds. The service reads all recipients. */
const QUOTE_MS = 300_000;

/** Loads the price of a campaign. It is loaded again when the number of recipients changes. */
export function useCampaignQuote(id: string, recipients: number): Resource<CampaignQuote> {
  return useResource((signal) => messaging().campaigns.quote(id, { signal, timeoutMs: QUOTE_MS }), [id, recipients]);
}

/** The price of a draft, by country and by number of segments. */
export function DraftPrice({ id, recipients }: { readonly id: string; readonly recipients: number }) {
  const { data, error, reload } = useCampaignQuote(id, recipients);
  return (
    <Section title={t('price')}>
      <Failure error={error} onRetry={() => void reload()} />
      {data === undefined && error === undefined && <Loading />}
      {data && (
        <div class="form">
          <p class="figure-value">{t('quote', { n: data.units, recipients: number(data.recipients) })}</p>
          <p class="hint">{t('left', { out: data.opted_out, invalid: data.invalid })}</p>
          {data.longest && <p class="hint">{t('longest', { n: data.longest.characters })}</p>}
          <Table
            caption={t('country')}
            rows={data.countries}
            identity={({ country: code }) => code ?? ''}
            columns={[
              { title: t('country'), cell: ({ country: code }) => (code === null ? t('noCountry') : country(code)) },
              { title: t('recipients'), right: true, cell: ({ recipients: each }) => number(each) },
              { title: word('units'), right: true, cell: ({ units }) => number(units) },
            ]}
          />
          <Table
            caption={t('segments')}
            rows={data.distribution}
            identity={({ segments }) => String(segments)}
            columns={[
              { title: t('segments'), cell: ({ segments }) => t('segmentsOf', { n: segments }) },
              { title: t('recipients'), right: true, cell: ({ recipients: each }) => number(each) },
              { title: word('units'), right: true, cell: ({ units }) => number(units) },
            ]}
          />
        </div>
      )}
    </Section>
  );
}
