import type { Campaign } from '../../../../client/index.js';
import { Status, type Tone } from '../../components/shown.js';
import { t } from './campaign-texts.js';
import './campaigns.css';

const TONES: Readonly<Record<Campaign['status'], Tone>> = {
  draft: 'calm',
  scheduled: 'info',
  running: 'info',
  paused: 'warn',
  completed: 'good',
  canceled: 'bad',
};

export function CampaignStatus({ of }: { readonly of: Campaign['status'] }) {
  return <Status of={of} tone={TONES[of]} text={t(of)} />;
}

/** How many recipients have left the campaign, as a bar and in words. */
export function CampaignProgress({ of: { name, counts, recipients_count: all } }: { readonly of: Campaign }) {
  const done = all - counts.pending;
  return (
    <>
      <progress
        class="campaign-progress"
        aria-label={`${t('progress')}: ${name}`}
        max={Math.max(all, 1)}
        value={done}
      />
      <span class="small soft">{t('progressOf', { done, n: all })}</span>
    </>
  );
}
