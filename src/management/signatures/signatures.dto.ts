import { IsString } from '../../http/validators.js';

/** Body of `POST /signatures`. The service checks its characters. */
export class RegisterSignatureBody {
  @IsString()
  readonly name: string = '';
}
