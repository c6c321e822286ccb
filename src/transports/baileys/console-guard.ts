/**
 * How the remarks begin that Baileys' Signal library makes on `console` in ordinary traffic. Some have a whole session
 * behind them, its private keys included, and there is no option against it.
 */
const REMARKS = [
  'Closing session:',
  'Opening session:',
  'Removing old closed session:',
  'Session already closed',
  'Session already open',
  'Closing open session in favor of incoming prekey bundle',
  'Decrypted message with closed session.',
  'Failed to decrypt message with any known session...',
  'Session error:',
];

const METHODS = ['log', 'info', 'warn', 'error', 'debug'] as const;

/** Keeps these remarks off the console until the answer is called; everything else passes as it is. */
export function guardConsole(): () => void {
  let guarding = true;
  const restores = METHODS.map((method) => {
    const original = console[method];
    const guarded = (...args: unknown[]) => {
      if (!guarding || !isRemark(args)) original.apply(console, args);
    };
    console[method] = guarded;
    return () => {
      // Somebody may have put theirs over ours.
      if (console[method] === guarded) console[method] = original;
    };
  });
  return () => {
    guarding = false;
    for (const restore of restores) restore();
  };
}

function isRemark([first, ...rest]: readonly unknown[]): boolean {
  if (typeof first === 'string' && REMARKS.some((remark) => first.startsWith(remark))) return true;
  return rest.some((value) => typeof value === 'object' && value?.constructor?.name === 'SessionEntry');
}
