import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import type { Campaign, Slice, SliceCounts } from './campaign.js';
import type { CountedCampaign } from './campaign-view.js';
import { addCounts, NO_COUNTS } from './run/slice-counts.js';
import { SliceStore } from './run/slice-store.js';

/** How many slices are counted for one look-up at most. The others are shown as the campaign's process counted them last. */
const COUNTED_SLICES = 20;

/** Counts the states of a campaign's SMS without reading all of them. */
@Injectable()
export class CampaignCounter {
  constructor(
    private readonly slices: SliceStore,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns a campaign with its counts. At most 20 000 recipients are read. If more SMS may still change their state, the counts of
   * the others are some seconds old while the campaign runs.
   *
   * @param most how many slices are counted now. 0: all counts are as the campaign's process counted them last
   */
  async count(campaign: Campaign, most: number = COUNTED_SLICES): Promise<CountedCampaign> {
    const all = await this.slices.all(campaign);
    const open = all.filter((slice) => slice.open).sort((one, other) => one.countedAt - other.countedAt);
    const counted = await this.slices.count(open.slice(0, most), this.clock.now());
    const present = new Map(counted.map(({ slice, counts }) => [slice.first, counts]));
    let counts = campaign.folded ?? NO_COUNTS;
    for (const slice of all) counts = addCounts(counts, present.get(slice.first) ?? lastCounts(slice));
    const last = all.at(-1);
    return { campaign, counts, counted: last ? last.first + last.recipients : campaign.foldedTo };
  }
}

function lastCounts({ counts, recipients }: Slice): SliceCounts {
  return counts ?? { ...NO_COUNTS, queued: recipients };
}
