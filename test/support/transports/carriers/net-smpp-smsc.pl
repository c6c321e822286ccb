#!/usr/bin/perl
# An SMSC on Net::SMPP, a codec nobody here wrote. It does what its first argument says, JSON with:
#   throttleEvery, dropEvery, garbageEvery, enquireEvery   at every so manieth submit
#   silentFrom      from this submit on nothing is answered any more
#   answerIds       decimal (default) or hex: how an id is written in the answer to a submit; in receipts it is decimal
#   receipts        both (default), text, tlv, data_sm, none
#   receiptFirst    true: the receipt overtakes the answer
# What happens is told on standard output, an object of JSON a line.
use strict;
use warnings;
use IO::Select;
use JSON::PP;
use Net::SMPP;

my %does = (answerIds => 'decimal', receipts => 'both', %{ decode_json($ARGV[0] // '{}') });
my $json = JSON::PP->new->canonical;
my @garbage_lengths = (0, 4, 15, 65_537, 0x7fffffff, 0xffffffff);
# Ids of 64 bits: more than a double can tell apart.
my ($submits, $garbage, $id) = (0, 0, 9308878062554710016);
# Receipts to send, and those that wait for an answer: by connection and sequence number.
my (@receipts, %unanswered);

$| = 1;
$SIG{PIPE} = 'IGNORE';
my $server = Net::SMPP->new_listen('127.0.0.1', port => 0) or die "no port: $!";
my $select = IO::Select->new($server);
report(event => 'listening', port => $server->sockport);

while (my @ready = $select->can_read) {
    for my $handle (@ready) {
        if ($handle == $server) { welcome($server->accept) }
        elsif (my $pdu = $handle->read_pdu) { handle($handle, $pdu) }
        else { hang_up($handle) }
    }
}

sub report { print $json->encode({@_}), "\n" }

sub welcome {
    my $client = shift or return;
    # Else a request of ours would read, and throw away, whatever comes before its answer.
    ${*$client}{async} = 1;
    $unanswered{$client} = {};
    $select->add($client);
}

sub hang_up {
    my ($client) = @_;
    return unless $select->exists($client);
    push @receipts, values %{ delete $unanswered{$client} };
    $select->remove($client);
    close $client;
    report(event => 'closed');
}

sub handle {
    my ($client, $pdu) = @_;
    my ($cmd, $seq) = @$pdu{qw(cmd seq)};
    if ($cmd == 0x04) { submitted($client, $pdu) }
    elsif ($cmd == 0x09) { bound($client, $pdu) }
    elsif ($cmd == 0x15) { asked($client, $seq) }
    elsif ($cmd == 0x06) { $client->unbind_resp(seq => $seq); report(event => 'unbind'); hang_up($client) }
    elsif ($cmd == 0x80000015) { report(event => 'alive') }
    elsif ($cmd == 0x80000005 || $cmd == 0x80000103) { receipt_answered($client, $pdu) }
    else { report(event => 'other', cmd => $cmd, status => $pdu->{status}) }
}

sub bound {
    my ($client, $pdu) = @_;
    my $status = $pdu->{password} eq 'secret' ? 0 : 0x0e;
    report(event => 'bind', status => $status, system_id => $pdu->{system_id}, version => $pdu->{interface_version});
    $client->bind_transceiver_resp(system_id => 'net-smpp', seq => $pdu->{seq}, status => $status);
    send_receipts($client) if $status == 0;
}

sub asked {
    my ($client, $seq) = @_;
    report(event => 'asked', seq => $seq);
    $client->enquire_link_resp(seq => $seq) unless silent();
}

sub silent { $does{silentFrom} && $submits >= $does{silentFrom} }

sub nth { my ($what) = @_; $does{$what} && $submits % $does{$what} == 0 }

sub submitted {
    my ($client, $pdu) = @_;
    $submits++;
    my $verdict =
        silent()               ? 'silent'
      : nth('throttleEvery')   ? 'throttled'
      : nth('dropEvery')       ? 'dropped'
      : nth('garbageEvery')    ? 'garbage'
      :                          'taken';
    report(event => 'submit', verdict => $verdict, pdu => readable($pdu));
    if ($verdict eq 'throttled') {
        $client->submit_sm_resp(message_id => '', status => 0x58, seq => $pdu->{seq});
        return;
    }
    $id++;
    my $written = $does{answerIds} eq 'hex' ? sprintf('%X', $id) : sprintf('%u', $id);
    push @receipts, { id => sprintf('%u', $id), to => $pdu } if $does{receipts} ne 'none';
    send_receipts($client) if $does{receiptFirst} && $verdict eq 'taken';
    if ($verdict eq 'taken') {
        $client->submit_sm_resp(message_id => $written, seq => $pdu->{seq});
        send_receipts($client);
    }
    elsif ($verdict eq 'dropped') {
        # Cut once in the header, once in the body.
        my $answer = pack('NNNNZ*', 17 + length $written, 0x80000004, 0, $pdu->{seq}, $written);
        $client->syswrite(substr $answer, 0, $submits % 2 ? 10 : 20);
        hang_up($client);
        return;
    }
    elsif ($verdict eq 'garbage') {
        my $length = $garbage_lengths[$garbage++ % @garbage_lengths];
        $client->syswrite(pack('NNNN', $length, 0x80000004, 0, $pdu->{seq}));
    }
    $client->enquire_link if nth('enquireEvery');
}

sub readable {
    my ($pdu) = @_;
    my %fields = map { $_ => $pdu->{$_} } grep { !/^(data|reserved|known_pdu|\d+)$/ } keys %$pdu;
    # Octets are no text: hexadecimal.
    my @octets = grep { /^(short_message|message_payload|sar_)/ } keys %fields;
    @fields{@octets} = map { unpack 'H*', $_ } @fields{@octets};
    return \%fields;
}

sub send_receipts {
    my ($client) = @_;
    while (my $receipt = shift @receipts) {
        my ($id, $to) = @$receipt{qw(id to)};
        my $text = "id:$id sub:001 dlvrd:001 submit date:2611211000 done date:2611211001 stat:DELIVRD err:000 text:";
        my @tlvs = (receipted_message_id => "$id\0", message_state => "\x02");
        my @from = (
            (map { ("source_$_", $to->{"dest_$_"}) } qw(addr_ton addr_npi)),
            (map { ("dest_$_", $to->{"source_$_"}) } qw(addr_ton addr_npi)),
            source_addr => $to->{destination_addr}, destination_addr => $to->{source_addr}, esm_class => 4,
        );
        my $how = $does{receipts};
        my $seq =
            $how eq 'data_sm' ? $client->data_sm(@from, @tlvs)
          : $how eq 'text'    ? $client->deliver_sm(@from, short_message => $text)
          : $how eq 'tlv'     ? $client->deliver_sm(@from, @tlvs)
          :                     $client->deliver_sm(@from, short_message => $text, @tlvs);
        $unanswered{$client}{$seq} = $receipt;
    }
}

# What was not stored comes again with the next submit or bind.
sub receipt_answered {
    my ($client, $pdu) = @_;
    my $receipt = delete $unanswered{$client}{ $pdu->{seq} } or return;
    push @receipts, $receipt if $pdu->{status} != 0;
    report(event => 'receipt', status => $pdu->{status}, number => $receipt->{to}{destination_addr});
}
