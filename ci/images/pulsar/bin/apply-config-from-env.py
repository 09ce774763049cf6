#!/usr/bin/perl
# Takes configuration files (KEY=VALUE lines) as arguments, and the environment.
# Rewrites each in place: a variable named like a key of the file replaces that line, then
# PULSAR_PREFIX_KEY replaces or appends (`--prefix` names another prefix). It must never write a key
# twice, and running it again changes nothing. (The name is upstream's; the image has no Python.)
use strict;
use warnings;

my $prefix = 'PULSAR_PREFIX_';
if (@ARGV > 1 and $ARGV[0] eq '--prefix') { shift; $prefix = shift }

for my $file (@ARGV) {
    open my $in, '<', $file or die "$file: $!\n";
    my @lines = <$in>;
    close $in;
    chomp @lines;

    my %at;
    for my $n (0 .. $#lines) {
        next unless $lines[$n] =~ /^\s*#?\s*([\w.]+)\s*=/;
        # a key that is set wins over the same key in a comment
        $at{$1} = $n if !exists $at{$1} or $lines[$n] !~ /^\s*#/;
    }
    my %wanted = map { $_ => $ENV{$_} } grep { exists $at{$_} } keys %ENV;
    for my $name (sort grep { index($_, $prefix) == 0 } keys %ENV) {
        $wanted{ substr $name, length $prefix } = $ENV{$name};
    }
    for my $key (sort keys %wanted) {
        $at{$key} = @lines unless exists $at{$key};
        $lines[ $at{$key} ] = "$key=$wanted{$key}";
    }
    open my $out, '>', $file or die "$file: $!\n";
    print {$out} "$_\n" for @lines;
    close $out or die "$file: $!\n";
}
