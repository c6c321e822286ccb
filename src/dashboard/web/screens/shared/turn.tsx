import { useSignal } from '@preact/signals';
import { Button } from '../../components/button.js';
import { Confirm } from '../../components/dialog.js';
import { type Act, act } from '../../core/said.js';

interface TurnProps {
  /** The texts of the screen: the two buttons, the dialog, and what the status line says after each change. */
  readonly t: (name: 'enable' | 'disable' | 'disableThis' | 'disableWhat' | 'disableDone' | 'enableDone') => string;
  readonly isOn: boolean;
  /** Each gets the Idempotency-Key. */
  enable(key: string): Promise<unknown>;
  disable(key: string): Promise<unknown>;
  /** Called after each change. */
  onTurned(): void;
}

/**
 * The button that disables or enables an entry that programs depend on. Disabling asks first, and the status line offers to
 * undo it. Enabling asks nothing.
 */
export function Turn({ t, isOn, enable, disable, onTurned }: TurnProps) {
  const asks = useSignal(false);
  const on: Act = { change: enable, said: t('enableDone'), after: onTurned };
  return (
    <>
      {isOn ? (
        <Button onClick={() => (asks.value = true)}>{t('disable')}</Button>
      ) : (
        <Button onClick={() => void act(on)}>{t('enable')}</Button>
      )}
      {asks.value && (
        <Confirm
          title={t('disableThis')}
          verb={t('disable')}
          change={disable}
          said={t('disableDone')}
          undo={on}
          onClose={(done) => {
            asks.value = false;
            if (done) onTurned();
          }}
        >
          <p>{t('disableWhat')}</p>
        </Confirm>
      )}
    </>
  );
}
