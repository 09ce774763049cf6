//! Receipts: a fault that did not land as its scenario says makes the cell inconclusive.
//! A `World` in order comes in; steps and looks of its fault are taken away or changed.
//! It must never accept a fault on the word of the worker that it was done to.

use ackproof::evidence::event::{At, Event, Exit, FaultStage, ProbeWhen};
use ackproof::faults::admin::{AdminAction, AdminSpec};
use ackproof::faults::barrier::BarrierSpec;
use ackproof::faults::freeze::FreezeSpec;
use ackproof::faults::stall::{StallEnd, StallSpec};
use ackproof::faults::withhold::{Piece, WithholdSpec};
use ackproof::faults::{EventRef, FaultSpec, PointTrigger};
use ackproof::names::{Cause, Outcome, Point, Role, TopicRole};
use ackproof::verdict::CellReport;

use crate::story::*;
use crate::world::outcome::*;
use crate::world::*;

#[test]
fn a_kill_lands_only_with_its_whole_bracket() {
    let not = Cause::FaultNotLanded;
    let stage = |pick: fn(&FaultStage) -> bool| {
        move |event: &Event| match event {
            Event::Fault(step) => pick(&step.stage),
            _ => false,
        }
    };
    let probes = |when| move |event: &Event| matches!(event, Event::Probe(p) if p.when == when);
    without(not, "never triggered", stage(|s| matches!(s, FaultStage::Triggered { .. })));
    without(not, "and not killed", stage(|s| matches!(s, FaultStage::Killed { .. })));
    without(not, "while consumer/1 was held", probes(ProbeWhen::Before));
    without(not, "after the death of consumer/1", probes(ProbeWhen::After));
    lying("the ledger shows no effect", ProbeWhen::Before, |probe| probe.effects = 0);
    lying("1 effect(s) before the death, and 0 after", ProbeWhen::After, |p| p.effects = 0);
    lying("was acknowledged already", ProbeWhen::Before, |p| p.acked = Some(true));
    lying("by the time that the worker was dead", ProbeWhen::After, |p| p.acked = Some(true));
    lying("did not say whether", ProbeWhen::Before, |p| p.acked = None);
    lying("did not say whether", ProbeWhen::After, |p| p.acked = None);
    lying("same destination", ProbeWhen::After, |p| p.destination.push('2'));
    lying("while consumer/1 was held", ProbeWhen::Before, |p| p.event = id(1));
    lying("while consumer/1 was held", ProbeWhen::Before, |p| p.fault.push('2'));
    // Both looks without an effect agree with each other, and not with what the worker says.
    inconclusive(not, "the worker says before_ack, and the ledger shows no effect", |world| {
        world.tell(SUBJECT, |story| {
            story.with(|event| {
                if let Event::Probe(probe) = event {
                    probe.effects = 0;
                }
            })
        });
    });
}

#[test]
fn a_kill_has_to_be_the_one_that_was_asked_for() {
    let change = |reason: &str, change: fn(&mut FaultStage)| {
        inconclusive(Cause::FaultNotLanded, reason, |world| {
            world.tell(SUBJECT, |story| {
                story.with(|event| {
                    if let Event::Fault(step) = event {
                        change(&mut step.stage);
                    }
                })
            });
        });
    };
    change("triggered at received", |stage| {
        if let FaultStage::Triggered { point, .. } = stage {
            *point = Some(Point::Received);
        }
    });
    change("triggered by e-0001, not by event 2", |stage| {
        if let FaultStage::Triggered { event, .. } = stage {
            *event = Some(id(1));
        }
    });
    change("triggered by other/1, not by consumer", |stage| {
        if let FaultStage::Triggered { process: who, .. } = stage {
            *who = Some(process("other/1"));
        }
    });
    change("without a worker", |stage| {
        if let FaultStage::Triggered { process, .. } = stage {
            *process = None;
        }
    });
    change("consumer/1 was held, and consumer/0 was killed", |stage| {
        if let FaultStage::Killed { process: who, .. } = stage {
            *who = process("consumer/0");
        }
    });
    change("signal 15 and ended with code 0", |stage| {
        if let FaultStage::Killed { signal, exit, .. } = stage {
            (*signal, *exit) = (15, Exit::Code(0));
        }
    });
    change("signal 9 and ended with code 0", |stage| {
        if let FaultStage::Killed { exit, .. } = stage {
            *exit = Exit::Code(0);
        }
    });
}

/// Kill at another point, with these two looks (effects, acknowledged).
fn kill_at(point: Point, before: (u64, bool), after: (u64, bool)) -> CellReport {
    cell(|world| {
        let FaultSpec::Kill(mut spec) = kill() else { unreachable!() };
        spec.when.point = point;
        set_fault(world.unit(SUBJECT), FaultSpec::Kill(spec));
        world.tell(SUBJECT, |story| {
            story.with(|event| match event {
                Event::Fault(step) => {
                    if let FaultStage::Triggered { point: at, .. } = &mut step.stage {
                        *at = Some(point.armed_as());
                    }
                }
                Event::Probe(probe) => {
                    let seen = if probe.when == ProbeWhen::Before { before } else { after };
                    (probe.effects, probe.acked) = (seen.0, Some(seen.1));
                }
                _ => {}
            })
        });
    })
}

#[test]
fn the_looks_have_to_agree_with_the_point() {
    let (no, yes) = (false, true);
    for (point, before, after) in [
        (Point::Received, (0, no), (0, no)),
        (Point::BeforeEffect, (0, no), (0, no)),
        (Point::BeforeEffect, (0, yes), (0, yes)),
        (Point::InTransaction, (0, no), (0, no)),
        (Point::EffectCommitted, (1, no), (1, no)),
        (Point::BeforeAck, (1, no), (1, no)),
        (Point::AckReturned, (1, no), (1, yes)),
        (Point::AckVisible, (0, yes), (0, yes)),
        (Point::BeforeNack, (0, no), (0, no)),
        (Point::DlqPublished, (0, no), (0, no)),
    ] {
        let cell = kill_at(point, before, after);
        assert_outcome(&cell, Outcome::Pass, None, "");
    }
    for (point, before, after, reason) in [
        (Point::Received, (1, no), (1, no), "received, and its effect is committed"),
        (Point::BeforeEffect, (1, no), (1, no), "before_effect, and its effect is committed"),
        (Point::InTransaction, (0, no), (1, no), "0 effect(s) before the death, and 1 after"),
        (Point::InTransaction, (1, no), (1, no), "in_transaction, and its effect is committed"),
        (Point::EffectCommitted, (0, no), (0, no), "the ledger shows no effect"),
        (Point::EffectCommitted, (1, yes), (1, yes), "acknowledged already"),
        (Point::BeforeAck, (1, no), (1, yes), "by the time that the worker was dead"),
        (Point::AckVisible, (0, no), (0, yes), "before the ACK was visible"),
        (Point::AckVisible, (0, yes), (0, no), "the visible ACK was gone"),
        (Point::BeforeNack, (0, yes), (0, yes), "before_nack, and it was acknowledged"),
        (Point::DlqPublished, (0, no), (0, yes), "by the time"),
    ] {
        let cell = kill_at(point, before, after);
        let cause = Some(Cause::FaultNotLanded);
        assert_outcome(&cell, Outcome::Inconclusive, cause, reason);
    }
}

#[test]
fn what_another_worker_did_meanwhile_is_not_the_dead_ones() {
    let cell = cell(|world| {
        world.tell(SUBJECT, |story| {
            let before = |event: &Event| {
                !matches!(event, Event::Probe(probe) if probe.when == ProbeWhen::After)
            };
            let acked = probe("kill", ProbeWhen::After, 2, 1, true);
            // Its successor had it, and acknowledged it, before the runner could look again.
            story.without(|event| !before(event)).and(acked)
        });
    });
    assert_outcome(&cell, Outcome::Pass, None, "");
}

#[test]
fn an_effect_of_an_earlier_handing_over_is_no_lie() {
    let earlier = |world: &mut World| {
        let FaultSpec::Kill(mut spec) = kill() else { unreachable!() };
        spec.when.point = Point::Received;
        set_fault(world.unit(SUBJECT), FaultSpec::Kill(spec));
        world.tell(SUBJECT, |story| {
            let events: Vec<_> = story.history().events().cloned().collect();
            let events = events.into_iter().flat_map(|event| match event {
                Event::Fault(mut step) => {
                    if let FaultStage::Triggered { point, .. } = &mut step.stage {
                        *point = Some(Point::Received);
                        return vec![received("consumer/1", 2), Event::Fault(step)];
                    }
                    vec![Event::Fault(step)]
                }
                other => vec![other],
            });
            Story::new().all(events.collect::<Vec<_>>())
        });
    };
    assert_outcome(&cell(earlier), Outcome::Pass, None, "");
}

#[test]
fn any_of_several_processes_and_any_arrival_may_fire() {
    let cell = cell(|world| {
        let FaultSpec::Kill(mut spec) = kill() else { unreachable!() };
        spec.when.event = EventRef::Arrival(1);
        set_fault(world.unit(SUBJECT), FaultSpec::Kill(spec));
    });
    assert_outcome(&cell, Outcome::Pass, None, "");
    assert_eq!(cell.faults[0].trigger, "before_ack, arrival 1");
    assert_eq!(cell_as_it_is().faults[0].trigger, "before_ack of event 2");
}

fn cell_as_it_is() -> CellReport {
    cell(|_| {})
}

#[test]
fn a_redriver_is_held_with_letters_recorded() {
    let redriver = |before: Option<u64>, after: Option<u64>| {
        cell(|world| {
            let FaultSpec::Kill(mut spec) = kill() else { unreachable!() };
            spec.when.point = Point::Redriven;
            set_fault(world.unit(SUBJECT), FaultSpec::Kill(spec));
            world.unit(SUBJECT).checks.clear();
            world.tell(SUBJECT, |story| {
                story.with(|event| match event {
                    Event::WorkerStarted { process: who, role, .. }
                        if *who == process("consumer/1") =>
                    {
                        *role = Role::Redriver;
                    }
                    Event::Fault(step) => {
                        if let FaultStage::Triggered { point, .. } = &mut step.stage {
                            *point = Some(Point::Redriven);
                        }
                    }
                    Event::Probe(probe) => {
                        let first = probe.when == ProbeWhen::Before;
                        probe.redriven = if first { before } else { after };
                        probe.effects = 0;
                    }
                    _ => {}
                })
            });
        })
    };
    let landed = redriver(Some(1), Some(1));
    assert_outcome(&landed, Outcome::Pass, None, "");
    assert!(landed.faults[0].receipt.contains("1 redriven"), "{}", landed.faults[0].receipt);
    let cause = Some(Cause::FaultNotLanded);
    for (before, after, reason) in [
        (Some(0), Some(0), "recorded no letter"),
        (None, Some(1), "nobody looked how many"),
        (Some(1), None, "nobody looked how many"),
    ] {
        assert_outcome(&redriver(before, after), Outcome::Inconclusive, cause, reason);
    }
}

/// The killed consumer's story with another fault in the place of the kill.
fn instead(spec: FaultSpec, steps: Vec<Event>, timeout_ms: Option<u64>) -> CellReport {
    cell(|world| {
        set_fault(world.unit(SUBJECT), spec);
        world.unit(SUBJECT).scope.ack_timeout_ms = timeout_ms;
        world.tell(SUBJECT, |story| {
            story.without(|event| matches!(event, Event::Fault(_))).all(steps)
        });
    })
}

fn stall(until: StallEnd) -> FaultSpec {
    let FaultSpec::Kill(kill) = kill() else { unreachable!() };
    FaultSpec::Stall(StallSpec { id: String::from("stall"), when: kill.when, until })
}

fn steps(between: Vec<Event>, last: Event) -> Vec<Event> {
    let first = triggered("stall", "consumer/1", Point::BeforeAck, 2);
    std::iter::once(first).chain(between).chain([last]).collect()
}

#[test]
fn a_stall_ends_when_another_process_has_the_event() {
    let elsewhere = || stall(StallEnd::ReceivedElsewhere);
    let received = || vec![received("consumer/2", 2)];
    let landed = instead(elsewhere(), steps(received(), held("stall", "consumer/1", 9)), None);
    assert_outcome(&landed, Outcome::Pass, None, "");
    assert!(landed.faults[0].receipt.ends_with("for 9 ms, until consumer/2 received it"));
    // Who had it before the holder was held waits for it in the database, by the database's word.
    let blocked = |waiter: &str, blocker: &str, event: u32| Event::Blocked {
        event: id(event),
        waiter: process(waiter),
        blocker: process(blocker),
    };
    let waits = vec![blocked("consumer/2", "consumer/1", 2)];
    let landed = instead(elsewhere(), steps(waits, held("stall", "consumer/1", 9)), None);
    assert_outcome(&landed, Outcome::Pass, None, "");
    let said = "for 9 ms, while consumer/2 waited for it in the database";
    assert!(landed.faults[0].receipt.ends_with(said), "{}", landed.faults[0].receipt);
    let by_another = vec![blocked("consumer/1", "consumer/2", 2)];
    let for_another = vec![blocked("consumer/2", "consumer/1", 1)];
    let in_vain = FaultStage::Held {
        process: process("consumer/1"),
        held_us: 9000,
        until: String::new(),
        reached: false,
    };
    let own = vec![crate::story::received("consumer/1", 2)];
    let other = vec![crate::story::received("consumer/2", 1)];
    let late = || {
        let mut steps = steps(Vec::new(), held("stall", "consumer/1", 9));
        steps.extend(received());
        steps
    };
    for (steps, reason) in [
        (vec![held("stall", "consumer/1", 9)], "never triggered"),
        (steps(received(), held("stall", "consumer/2", 9)), "was not held"),
        (steps(received(), fault("stall", in_vain)), "for 9 ms in vain"),
        (steps(own, held("stall", "consumer/1", 9)), "nobody else received e-0002"),
        (steps(other, held("stall", "consumer/1", 9)), "nobody else received e-0002"),
        (steps(by_another, held("stall", "consumer/1", 9)), "nobody else received e-0002"),
        (steps(for_another, held("stall", "consumer/1", 9)), "nobody else received e-0002"),
        (late(), "nobody else received e-0002"),
    ] {
        let cell = instead(elsewhere(), steps, None);
        let cause = Some(Cause::FaultNotLanded);
        assert_outcome(&cell, Outcome::Inconclusive, cause, reason);
    }
}

/// All that came to the barrier are in the event at once, by the word of ledger or database.
#[test]
fn a_barrier_opens_when_all_are_there() {
    let (one, two) = ("consumer/1", "consumer/2");
    let barrier = || {
        let FaultSpec::Kill(kill) = kill() else { unreachable!() };
        let when = PointTrigger { point: Point::InTransaction, ..kill.when };
        FaultSpec::Barrier(BarrierSpec { id: String::from("stall"), when, with: Vec::new() })
    };
    let arrived = |who: &str| {
        let Event::ClaimAt(at) = received(who, 2) else { unreachable!() };
        Event::ClaimAt(At { point: Point::InTransaction, held: true, ..at })
    };
    let look = |effects| probe("stall", ProbeWhen::After, 2, effects, false);
    let waits = |blocker: &str| Event::Blocked {
        event: String::from("e-0002"),
        waiter: process(two),
        blocker: process(blocker),
    };
    let open = |held: &[&str], waiting: &[&str], complete| {
        let all = |list: &[&str]| list.iter().map(|who| process(who)).collect();
        let (held, waiting, point) = (all(held), all(waiting), Point::InTransaction);
        let stage =
            FaultStage::Gathered { point, held, waiting, wanted: 2, held_us: 9000, complete };
        fault("stall", stage)
    };
    let told = |between: Vec<Event>, last: Event| {
        let first = [arrived(one), triggered("stall", one, Point::InTransaction, 2)];
        instead(barrier(), first.into_iter().chain(between).chain([last]).collect(), None)
    };
    for (between, last, receipt) in [
        (vec![arrived(two), look(0)], open(&[one, two], &[], true), "all held at in_transaction"),
        (vec![waits(one), look(0)], open(&[one], &[two], true), "consumer/2 waiting for the lock"),
    ] {
        let landed = told(between, last);
        assert_outcome(&landed, Outcome::Pass, None, "");
        assert!(landed.faults[0].receipt.contains(receipt), "{}", landed.faults[0].receipt);
    }
    let complete = |waiting: &[&str]| open(&[one], waiting, true);
    for (between, last, reason) in [
        (vec![arrived(two), look(0)], look(0), "nobody was gathered"),
        (vec![look(0)], open(&[one], &[], false), "1 of 2 came to in_transaction"),
        (vec![look(0)], complete(&[]), "1 of 2 came"),
        (vec![look(0)], complete(&[one]), "1 of 2 came"),
        (vec![look(0)], open(&[one, two], &[], true), "consumer/2 was not held"),
        (vec![look(0)], complete(&[two]), "did not show consumer/2 waiting"),
        (vec![waits("other/1"), look(0)], complete(&[two]), "did not show consumer/2 waiting"),
        (vec![look(0)], open(&[one, "other/1"], &[], true), "other/1 is none of consumer"),
        (vec![arrived(two)], open(&[one, two], &[], true), "nobody looked at e-0002"),
        (vec![arrived(two), look(1)], open(&[one, two], &[], true), "were there already"),
    ] {
        let cell = told(between, last);
        let cause = Some(Cause::FaultNotLanded);
        assert_outcome(&cell, Outcome::Inconclusive, cause, reason);
    }
}

#[test]
fn a_stall_for_a_share_of_the_limit_lasts_that_long() {
    let share = || stall(StallEnd::PercentOfAckTimeout(60));
    let held = |ms| steps(Vec::new(), crate::story::held("stall", "consumer/1", ms));
    let landed = instead(share(), held(600), Some(1000));
    assert_outcome(&landed, Outcome::Pass, None, "");
    assert!(landed.faults[0].receipt.ends_with("60 % of 1000 ms"), "{}", landed.faults[0].receipt);
    let cause = Some(Cause::FaultNotLanded);
    let short = instead(share(), held(599), Some(1000));
    assert_outcome(&short, Outcome::Inconclusive, cause, "less than 60 % of 1000 ms");
    let free = instead(share(), held(600), None);
    assert_outcome(&free, Outcome::Inconclusive, cause, "no ack timeout");
}

#[test]
fn a_freeze_is_a_stopped_process_that_goes_on_again() {
    let freeze = || {
        let FaultSpec::Kill(kill) = kill() else { unreachable!() };
        let until = StallEnd::ReceivedElsewhere;
        FaultSpec::Freeze(FreezeSpec { id: String::from("stall"), when: kill.when, until })
    };
    let frozen = |who: &str, stopped: bool| {
        let proof = String::from("process states: 7 T");
        fault("stall", FaultStage::Frozen { process: process(who), proof, stopped })
    };
    let thawed = |verified: bool| {
        fault("stall", FaultStage::Healed { proof: String::from("process states: 7 S"), verified })
    };
    let told = |before: Vec<Event>, after: Vec<Event>| {
        let between = before.into_iter().chain([received("consumer/2", 2)]).collect();
        let mut steps = steps(between, held("stall", "consumer/1", 9));
        steps.extend(after);
        instead(freeze(), steps, None)
    };
    let landed = told(vec![frozen("consumer/1", true)], vec![thawed(true)]);
    assert_outcome(&landed, Outcome::Pass, None, "");
    assert_eq!(landed.faults[0].kind, "freeze");
    let receipt = &landed.faults[0].receipt;
    assert!(receipt.ends_with("until consumer/2 received it; process states: 7 T"), "{receipt}");
    let early = || {
        let steps = steps(vec![received("consumer/2", 2)], held("stall", "consumer/1", 9));
        let early = std::iter::once(frozen("consumer/1", true)).chain(steps).chain([thawed(true)]);
        instead(freeze(), early.collect(), None)
    };
    for (cell, reason) in [
        (told(Vec::new(), vec![thawed(true)]), "consumer/1 was not frozen"),
        (told(vec![frozen("consumer/2", true)], vec![thawed(true)]), "consumer/1 was not frozen"),
        (told(vec![frozen("consumer/1", false)], vec![thawed(true)]), "consumer/1 did not stop"),
        (early(), "was frozen before it had the event"),
    ] {
        assert_outcome(&cell, Outcome::Inconclusive, Some(Cause::FaultNotLanded), reason);
    }
    for after in [Vec::new(), vec![thawed(false)]] {
        let cell = told(vec![frozen("consumer/1", true)], after);
        assert_outcome(&cell, Outcome::Inconclusive, Some(Cause::HealNotVerified), "stall");
    }
}

#[test]
fn a_withheld_piece_is_absent_until_it_is_healed() {
    let spec = |heal_in: Option<&str>| {
        FaultSpec::Withhold(WithholdSpec {
            id: String::from("f"),
            piece: Piece::DeadLetterTopic,
            heal_in: heal_in.map(str::to_owned),
        })
    };
    let there = || {
        let (piece, proof) = (String::new(), String::from("it has a leader"));
        fault("f", FaultStage::Withheld { piece, proof, absent: false })
    };
    let for_good = instead(spec(None), vec![withheld("f")], None);
    assert_outcome(&for_good, Outcome::Pass, None, "");
    assert_eq!(for_good.faults[0].healed, None);
    let made = instead(spec(Some("later")), vec![withheld("f"), healed("f")], None);
    assert_outcome(&made, Outcome::Pass, None, "");
    assert_eq!(made.faults[0].healed, Some(true));
    let cause = Some(Cause::HealNotVerified);
    let never = instead(spec(Some("later")), vec![withheld("f")], None);
    assert_outcome(&never, Outcome::Inconclusive, cause, "nothing shows that f is healed");
    let cause = Some(Cause::FaultNotLanded);
    for (steps, reason) in [
        (vec![], "nobody looked whether the dead_letter_topic"),
        (vec![there()], "is there: it has a leader"),
        (vec![withheld("f"), there()], "is there: it has a leader"),
        (vec![withheld("other")], "nobody looked"),
    ] {
        let cell = instead(spec(None), steps, None);
        assert_outcome(&cell, Outcome::Inconclusive, cause, reason);
    }
}

#[test]
fn an_administrative_action_takes_effect() {
    let spec = || {
        FaultSpec::Admin(AdminSpec {
            id: String::from("trim"),
            action: AdminAction::UnloadAndTrim,
            topic: TopicRole::DeadLetter,
            after: String::from("dead"),
        })
    };
    let landed = instead(spec(), vec![administered("trim")], None);
    assert_outcome(&landed, Outcome::Pass, None, "");
    assert_eq!(landed.faults[0].trigger, "after phase dead");
    let cause = Some(Cause::FaultNotLanded);
    assert_outcome(&instead(spec(), vec![], None), Outcome::Inconclusive, cause, "was never done");
    let (action, answer) = (String::new(), String::from("409"));
    let refused = FaultStage::Administered { action, answer, took_effect: false };
    let refused = instead(spec(), vec![fault("trim", refused)], None);
    assert_outcome(&refused, Outcome::Inconclusive, cause, "took no effect: 409");
}
