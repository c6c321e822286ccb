interface Lane {
  free: number;
  readonly waiting: Set<() => void>;
}

/** Lets so many pieces of work go on at a time for each key; what is more waits, first come first served. */
export class Turns {
  private readonly lanes = new Map<string, Lane>();

  constructor(private readonly most: number) {}

  /** Runs `work` when its turn has come. @throws the reason of `signal` when that fires before */
  async run<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const lane = this.lanes.get(key) ?? { free: this.most, waiting: new Set() };
    this.lanes.set(key, lane);
    await turn(lane, signal);
    try {
      return await work();
    } finally {
      pass(lane);
      if (lane.free === this.most) this.lanes.delete(key);
    }
  }
}

async function turn(lane: Lane, signal: AbortSignal): Promise<void> {
  if (lane.free > 0) {
    lane.free--;
    return;
  }
  await new Promise<void>((resolve, reject) => {
    const go = () => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    const leave = () => {
      lane.waiting.delete(go);
      reject(signal.reason);
    };
    lane.waiting.add(go);
    signal.addEventListener('abort', leave, { once: true });
  });
}

/** Hands the turn to the next that waits. */
function pass(lane: Lane): void {
  const [next] = lane.waiting;
  if (next) lane.waiting.delete(next);
  else lane.free++;
  next?.();
}
